import SwitchboardPlatform
@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct DigestAuthTests {
    private let url = URL(text: "http://www.example.org/dir/index.html")

    /// RFC 7616 §3.9.1
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private static func challenge(_ algorithm: String?, qop: String? = "auth, auth-int", more: String = "") -> String {
        #"Digest realm="http-auth@example.org""# + (qop.map { #", qop="\#($0)""# } ?? "")
            + (algorithm.map { ", algorithm=\($0)" } ?? "")
            + #", nonce="\#(nonce)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""# + more
    }

    private func digest(
        _ user: String = "Mufasa", _ password: String = "Circle of Life",
        clientNonce: String = DigestAuthTests.clientNonce
    ) -> DigestAuth {
        DigestAuth(
            CredentialSource(BasicCredentials(user: user, password: password)), .endPoints, makeNonce: { clientNonce })
    }

    private func refusal(_ challenges: String...) -> MockResponse {
        .status(401, headers: HTTPHeaders(challenges.map { HTTPHeader(name: "WWW-Authenticate", value: $0) }))
    }

    /// Returns the sent `Authorization` fields, parsed.
    private func answers(_ session: StubSession) -> [AuthenticationChallenge?] {
        session.authorizations.map { $0.flatMap { AuthenticationChallenge.parse($0).first } }
    }

    @Test("an answer escapes a quote with a combining mark (RFC 9110 §5.6.4)")
    func combiningMarks() async throws {
        // Escaped as a server must, so that the realm is: a"́, uri="/evil
        let realm = "a\\\"\u{301}, uri=\\\"\u{301}/evil"
        let session = StubSession(
            .status(401, headers: ["WWW-Authenticate": "Digest realm=\"\(realm)\", nonce=\"n\", qop=\"auth\""]),
            .text(""))
        try await send(session, digest())
        let answer = try #require(session.authorizations.last ?? nil)
        #expect(answer.utf8.count > 0 && Array(answer.utf8).contains(subsequence: Array("realm=\"\(realm)\",".utf8)))
    }

    private func send(_ session: StubSession, _ digest: DigestAuth, _ endPoint: URLEndPoint? = nil) async throws {
        let router = Router<URLEndPoint>(session: session, interceptors: [digest])
        _ = try await router.response(for: endPoint ?? URLEndPoint(.get, url))
    }

    @Test("a next nonce that no field may contain is ignored (RFC 9110 §5.5)")
    func nextNonceWithControl() async throws {
        let authorizations = Deliveries<String?>()
        let session = AdHocSession { request in
            try request.validate()
            authorizations.add(request.headers["Authorization"])
            guard request.hasAuthorization else {
                return NetworkResponse(statusCode: 401, headers: ["WWW-Authenticate": Self.challenge("MD5")])
            }
            return NetworkResponse(statusCode: 200, headers: ["Authentication-Info": "nextnonce=\"a\u{1}b\""])
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [digest()])
        for _ in 0..<2 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(authorizations.all.count == 3)
    }

    @Test("a 401 for the GET of a redirect to the same URL sends no second POST")
    func redirectToSameURL() async throws {
        let session = StubSession(
            refusal(Self.challenge("MD5")), .text("ok"), .redirect(to: url.absoluteString, statusCode: 303),
            refusal(Self.challenge("MD5") + ", stale=true"), .text("ok"))
        let router = Router<URLEndPoint>(session: session, interceptors: [digest()])
        for method: HTTPMethod in [.get, .post] { _ = try await router.response(for: URLEndPoint(method, url)) }
        #expect(session.requests.map(\.method) == [.get, .get, .post, .get, .get])
        // The digest of the POST is not for the GET (RFC 7616 §3.4.3).
        #expect(session.authorizations.map { $0 != nil } == [false, true, true, false, true])
    }

    @Test("an answer keeps the method that a later interceptor replaces")
    func methodOverride() async throws {
        let session = StubSession(refusal(Self.challenge("MD5")), .text("ok"))
        let override = AdHocInterceptor { request, next in
            var request = request
            if request.method == .patch { request.headers["X-HTTP-Method-Override"] = "PATCH" }
            request.method = .post
            return try await next(request)
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [digest(), override, CommonParameters(["a": 1], in: .query)])
        _ = try await router.response(for: URLEndPoint(.patch, url))
        #expect(session.requests.map { $0.headers["X-HTTP-Method-Override"] } == ["PATCH", "PATCH"])
    }

    @Test("challenges of 256 servers are stored, and one more removes them")
    func limit() throws {
        let nonces = DigestNonces { "c" }
        let challenge = try DigestChallenge(
            try #require(AuthenticationChallenge.parse(Self.challenge("SHA-256")).first))
        let keys = try (1...257).map { number in
            try #require(OriginKey(NetworkRequest(.get, URL(string: "https://server\(number).example/"))))
        }
        for key in keys.prefix(256) { nonces.store(challenge, for: key) }
        #expect(nonces.next(for: keys[0]) != nil && nonces.next(for: keys[255]) != nil)
        nonces.store(challenge, for: keys[256])
        #expect(nonces.next(for: keys[0]) == nil && nonces.next(for: keys[256]) != nil)
    }

    @Test(
        "answers the examples of RFC 7616 §3.9.1, without an algorithm by MD5",
        arguments: [
            (challenge("MD5"), "8ca523f5e9506fed4657c9700eebdbec"),
            (challenge("SHA-256"), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
            (challenge("sha-256"), "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
            (challenge(nil), "8ca523f5e9506fed4657c9700eebdbec"),
        ])
    func vectors(challenge: String, response: String) async throws {
        let session = StubSession(refusal(challenge), .text("ok"))
        try await send(session, digest())
        let answer = try #require(answers(session)[1])
        #expect(answer["response"] == response)
        #expect(answer["username"] == "Mufasa")
        #expect(answer["realm"] == "http-auth@example.org")
        #expect(answer["uri"] == "/dir/index.html")
        #expect(answer["nonce"] == Self.nonce)
        #expect(answer["nc"] == "00000001")
        #expect(answer["cnonce"] == Self.clientNonce)
        #expect(answer["qop"] == "auth")
        #expect(answer["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
        // RFC 7616 §3.4: these have no quotes.
        let text = try #require(session.authorizations[1])
        #expect(text.contains("qop=auth,") && text.contains("nc=00000001,"))
    }

    @Test(
        "answers -sess algorithms with values computed by another program",
        arguments: [
            // python3 hashlib over RFC 2617's numbers, POST /a?b=c
            ("MD5-sess", "auth", "0fe4ee817a77c1265b1a20bc8f99673e"),
            ("SHA-256-sess", "auth", "03817dca80ba804b21f38502a2d0c2f30df16206544367c5a0e7dc1a8ed49641"),
        ])
    func session(algorithm: String, qop: String, response: String) async throws {
        let challenge =
            #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", qop=\#(qop), algorithm=\#(algorithm)"#
        let session = StubSession(refusal(challenge), .text("ok"), .text("ok"))
        let digest = digest("Mufasa", "Circle Of Life", clientNonce: "0a4f113b")
        let endPoint = URLEndPoint(
            .post, URL(text: "http://h.example/a?b=c"), task: .requestBody(DataBody(Data("x".utf8))))
        try await send(session, digest, endPoint)
        try await send(session, digest, endPoint)
        let answer = try #require(answers(session)[2])
        #expect(answer["nc"] == "00000002")
        #expect(answer["response"] == response)
        #expect(answer["algorithm"] == algorithm)
    }

    @Test("a challenge without qop (RFC 2069) gets an answer without qop or count")
    func withoutQOP() async throws {
        let challenge = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        let session = StubSession(refusal(challenge), .text("ok"))
        try await send(session, digest("Mufasa", "Circle Of Life"))
        let answer = try #require(answers(session)[1])
        // The corrected example of RFC 2069 (errata 749 uses another user), computed by python3 hashlib.
        #expect(answer["response"] == "670fd8c2df070c60b045671b8b24ff02")
        for name in ["qop", "nc", "cnonce", "opaque", "algorithm"] { #expect(answer[name] == nil) }
    }

    @Test("answers userhash and UTF-8 by SHA-512/256, as in RFC 7616 §3.9.2")
    func userHash() async throws {
        // The values are computed by python3, since those of RFC 7616 §3.9.2 are errata.
        guard (try? MessageDigest.sha512Over256.hash(Data())) != nil else { return }
        let challenge =
            #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGChXYjwrB2QmXws", charset=UTF-8, userhash=true"#
        let session = StubSession(refusal(challenge), .text("ok"))
        let digest = digest("Ja\u{308}søn Doe", "Secret, or not?", clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
        try await send(session, digest, URLEndPoint(.get, URL(text: "http://api.example.org/doe.json")))
        let answer = try #require(answers(session)[1])
        #expect(answer["username"] == "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b")
        #expect(answer["userhash"] == "true")
        #expect(answer["response"] == "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c")
    }

    @Test("names beyond ASCII go into username*, quotes are escaped (RFC 7616)")
    func names() async throws {
        let session = StubSession(refusal(Self.challenge("SHA-256", more: ", charset=UTF-8")), .text("ok"))
        try await send(session, digest("Jäsøn Doe"))
        // RFC 7616 §3.4.4
        #expect(session.authorizations[1]?.contains("username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, ") == true)
        #expect(answers(session)[1]?["username"] == nil)
        let quoted = StubSession(refusal(#"Digest realm="a\"b\\c", nonce="n", qop="auth""#), .text("ok"))
        try await send(quoted, digest(#"an"na\"#))
        #expect(quoted.authorizations[1]?.hasPrefix(#"Digest username="an\"na\\", realm="a\"b\\c", "#) == true)
        let broken = StubSession { _ in refusal(Self.challenge("MD5")) }
        let error = await #expect(throws: NetworkError.self) { try await send(broken, digest("an\r\nna")) }
        #expect(error?.code == .invalidRequest)
    }

    @Test(
        "answers the strongest of several challenges, in one field or in many",
        arguments: [
            ([challenge("MD5") + ", " + challenge("SHA-256")], "SHA-256"),
            ([challenge("SHA-256"), "Basic realm=x", challenge("MD5")], "SHA-256"),
            (["Negotiate", challenge("MD5"), challenge("SHA-512")], "MD5"), ([challenge("MD5-sess")], "MD5-sess"),
            ([challenge("SHA-256", qop: "auth-int"), challenge("MD5")], "MD5"),
        ])
    func strongest(challenges: [String], algorithm: String) async throws {
        let refusal = MockResponse.status(
            401, headers: HTTPHeaders(challenges.map { HTTPHeader(name: "WWW-Authenticate", value: $0) }))
        let session = StubSession(refusal, .text("ok"))
        try await send(session, digest())
        #expect(answers(session)[1]?["algorithm"] == algorithm)
    }

    @Test("later requests answer at once, counted by origin and partition")
    func preemptive() async throws {
        let session = StubSession { [self] request in
            request.headers.contains("Authorization") ? .text("ok") : refusal(Self.challenge("SHA-256"))
        }
        let digest = digest()
        for _ in 0..<3 { try await send(session, digest) }
        #expect(answers(session).map { $0?["nc"] } == [nil, "00000001", "00000002", "00000003"])
        try await send(session, digest, URLEndPoint(.get, URL(text: "http://www.example.org:8080/")))
        #expect(answers(session).suffix(2).map { $0?["nc"] } == [nil, "00000001"])
        let other = Router<URLEndPoint>(
            session: session, interceptors: [digest],
            options: RequestOptions { $0.partition = "qa" })
        _ = try await other.response(for: URLEndPoint(.get, url))
        #expect(answers(session).suffix(2).map { $0?["nc"] } == [nil, "00000001"])
        await digest.reset()
        try await send(session, digest)
        #expect(answers(session).suffix(2).map { $0?["nc"] } == [nil, "00000001"])
    }

    @Test("replaces a stale nonce, gives up on more, and drops a refused answer")
    func stale() async throws {
        func stale(_ nonce: String) -> MockResponse {
            refusal(#"Digest realm="r", nonce="\#(nonce)", qop="auth", stale=TRUE"#)
        }
        let session = StubSession(
            refusal(Self.challenge("MD5")), .text("ok"), stale("n2"), .text("ok"), stale("n3"), stale("n4"), stale("n5")
        )
        let digest = digest()
        try await send(session, digest)
        try await send(session, digest)
        #expect(answers(session).map { $0?["nonce"] } == [nil, Self.nonce, Self.nonce, "n2"])
        #expect(answers(session).map { $0?["nc"] } == [nil, "00000001", "00000002", "00000001"])
        let error = await #expect(throws: NetworkError.self) { try await send(session, digest) }
        #expect(error?.code == .unauthorized)
        #expect(answers(session).dropFirst(4).map { $0?["nonce"] } == ["n2", "n3", "n4"])

        let wrong = StubSession { [self] _ in refusal(Self.challenge("MD5")) }
        let refused = self.digest("Mufasa", "wrong")
        for count in [2, 4] {
            await #expect(throws: NetworkError.self) { try await send(wrong, refused) }
            #expect(wrong.requests.count == count)
        }
    }

    @Test(
        "uses the next nonce (RFC 7616 §3.5), unless the key is of the first",
        arguments: [("MD5", "next", "00000001"), ("MD5-sess", Self.nonce, "00000002")])
    func nextNonce(algorithm: String, nonce: String, count: String) async throws {
        let session = StubSession(
            refusal(Self.challenge(algorithm)),
            .text("ok", headers: ["Authentication-Info": #"nextnonce="next", qop=auth, nc=00000001"#]), .text("ok"))
        let digest = digest()
        try await send(session, digest)
        try await send(session, digest)
        #expect(answers(session)[2]?["nonce"] == nonce)
        #expect(answers(session)[2]?["nc"] == count)
    }

    @Test("a nonce for several realms is answered in each")
    func realms() async throws {
        let session = StubSession { request in
            let realm = #"realm="\#(request.url?.lastPathComponent ?? "")""#
            return request.headers["Authorization"]?.contains(realm) == true
                ? .text("ok") : .status(401, headers: ["WWW-Authenticate": #"Digest \#(realm), nonce="n", qop="auth""#])
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [digest()])
        for realm in ["a", "b", "a"] {
            let response = try await router.response(for: URLEndPoint(.get, #require(URL(string: "http://h/\(realm)"))))
            #expect(response.statusCode == 200)
        }
        #expect(
            answers(session).map { $0?["nc"] } == [nil, "00000001", "00000002", "00000003", "00000004", "00000005"])
    }

    @Test("each of two concurrent challenges gets its own answer, because a server may accept a nonce once")
    func oneTimeNonces() async throws {
        let nonces = Deliveries<String>()
        let session = StubSession { request in
            guard request.headers["Authorization"] == nil else { return .text("ok") }
            nonces.add("n\(nonces.all.count + 1)")
            return .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="\#(nonces.all.last ?? "")""#])
        }
        let other = URLEndPoint(
            .get, url, options: RequestOptions { $0.credentials = BasicCredentials(user: "u", password: "p") })
        let router = Protected<Router<URLEndPoint>?>(nil)
        // While the credentials for the first challenge are requested, another request is challenged.
        let digest = DigestAuth {
            _ = try await router.value?.response(for: other)
            return BasicCredentials(user: "u", password: "p")
        }
        _ = router.swap(Router(session: session, interceptors: [digest]))
        _ = try await router.value?.response(for: URLEndPoint(.get, url))
        #expect(answers(session).map { $0?["nonce"] } == [nil, nil, "n2", "n1"])
    }

    @Test("a challenge that offers only auth-int is a typed error")
    func onlyIntegrity() async throws {
        let session = StubSession { [self] _ in refusal(Self.challenge("MD5", qop: "auth-int")) }
        let error = await #expect(throws: NetworkError.self) { try await send(session, digest()) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.statusCode == 401)
        #expect(session.requests.count == 1)
    }

    @Test(
        "an unusable challenge gets no answer and ends in an error",
        arguments: [
            "Digest", "Digest realm=\"r\"", "Digest nonce=\"n\"", "Digest realm=\"r\", nonce=\"\"", "Digest \"",
            "Basic realm=\"r\"",
            "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512", "Digest realm=\"r\", nonce=\"n\", algorithm=\"\"",
            "Digest realm=\"r\", nonce=\"\(String(repeating: "n", count: 10_000))\"",
            "Digest realm=\"\u{7F}\", nonce=\"n\"",
        ])
    func hostile(challenge: String) async throws {
        let session = StubSession { _ in
            // Sent as it is, without the checks of a request's fields.
            .status(401, headers: ["WWW-Authenticate": challenge])
        }
        let error = await #expect(throws: NetworkError.self) { try await send(session, digest()) }
        #expect(error?.code == .unauthorized || error?.code == .invalidResponse)
        #expect(session.requests.count == 1)
    }

    @Test("a one-shot body is not sent again; the next request answers at once")
    func oneShot() async throws {
        let session = StubSession(refusal(Self.challenge("MD5")), .text("ok"))
        let digest = digest()
        let endPoint = URLEndPoint(.put, url, task: .requestBody(OneShotBody()))
        await #expect(throws: NetworkError.self) { try await send(session, digest, endPoint) }
        #expect(session.requests.count == 1)
        try await send(session, digest, endPoint)
        #expect(answers(session)[1]?["nc"] == "00000001")
    }

    @Test("hashes match standard vectors; a missing library is a typed error")
    func hashes() throws {
        // RFC 1321 A.5, FIPS 180-4's examples
        #expect(try MessageDigest.md5.hash(Data("abc".utf8)).hexText == "900150983cd24fb0d6963f7d28e17f72")
        #expect(try MessageDigest.md5.hash(Data()).hexText == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(
            try MessageDigest.sha256.hash(Data("abc".utf8)).hexText
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #if os(Linux)
        #expect(
            try MessageDigest.sha512Over256.hash(Data("abc".utf8)).hexText
                == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
        let missing = Result { () throws(DynamicLibrary.Failure) in try LibCrypto(firstOf: ["libnowhere.so.9"]) }
        let failure = #expect(throws: DynamicLibrary.Failure.self) { try MessageDigest.md5.hash(Data(), by: missing) }
        #expect(failure?.text.contains("libnowhere") == true)
        #endif
    }
}

/// Digest answers after a redirect, and their counts at the server.
@Suite(.timeLimit(.minutes(10)))
struct DigestPlaceTests {
    private static func parameter(_ name: String, _ field: String?) -> String? {
        AuthenticationChallenge.parse(field ?? "").first?[name]
    }

    @Test("an answer names the URI behind a same-origin redirect (RFC 7616 §3.4)", arguments: ["GET", "POST"])
    func redirected(method: String) async throws {
        let session = StubSession { request in
            let target = request.path + (request.query.map { "?" + $0 } ?? "")
            guard Self.parameter("uri", request.headers["Authorization"]) == target else {
                return .status(
                    401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#])
            }
            return request.path == "/go" ? .status(307, headers: ["Location": "/landed?x=1"]) : .text(request.path)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "anna", password: "geheim")])
        let endPoint = URLEndPoint(
            method == "GET" ? .get : .post, URL(text: "https://api.example.com/go"),
            task: method == "GET" ? .request : .requestBody(DataBody(Data("body".utf8))))
        for _ in 0..<2 { #expect(try await router.request(endPoint, as: String.self) == "/landed") }
        // A challenge of another origin gets no answer.
        let away = StubSession { request in
            request.url?.host == "api.example.com"
                ? .status(302, headers: ["Location": "https://elsewhere.example/"])
                : .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
        }
        let other = Router<URLEndPoint>(session: away, interceptors: [DigestAuth(user: "anna", password: "geheim")])
        #expect(try await other.rawResponse(for: endPoint).statusCode == 401)
        #expect(away.requests.allSatisfy { !$0.headers.contains("Authorization") })
    }

    // RFC 7616 §3.4.6: "if they are not, the server SHOULD return a 400 (Bad Request) error."
    @Test("an answer for one URI is not sent to the target of a redirect")
    func boundToURI() async throws {
        let session = StubSession { request in
            guard let field = request.headers["Authorization"] else {
                return .status(
                    401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#])
            }
            let target = request.path + (request.query.map { "?" + $0 } ?? "")
            guard Self.parameter("uri", field) == target else { return .status(400) }
            return request.path == "/go" ? .status(307, headers: ["Location": "/landed?x=1"]) : .text(request.path)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "anna", password: "geheim")])
        let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/go"))
        for _ in 0..<2 {
            let text = try await router.request(endPoint, as: String.self)
            #expect(text == "/landed")
        }
        let answers = session.requests.map { Self.parameter("uri", $0.headers["Authorization"]) }
        // The second call needs no challenge for the first URL.
        #expect(answers == [nil, "/go", nil, "/landed?x=1", "/go", nil, "/landed?x=1"])
    }

    @Test("each target of a chain of redirects gets its own answer")
    func redirects() async throws {
        let session = StubSession { request in
            guard Self.parameter("uri", request.headers["Authorization"]) == request.path else {
                return .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
            }
            let number = Int(request.path.dropFirst()) ?? 0
            return number < 6 ? .status(307, headers: ["Location": "/\(number + 1)"]) : .text("landed")
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "anna", password: "geheim")])
        let text = try await router.request(URLEndPoint(.get, URL(text: "https://api.example.com/0")), as: String.self)
        #expect(text == "landed")
    }

    @Test("concurrent requests with one nonce get distinct counts (RFC 7616 §3.4)")
    func counts() async throws {
        let refused = Deliveries<Bool>()
        let counts = Deliveries<String>()
        let session = StubSession { request in
            guard let count = Self.parameter("nc", request.headers["Authorization"]) else {
                refused.open()
                _ = try await refused.wait(for: 10)
                return .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
            }
            counts.add(count)
            return .text("ok")
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [DigestAuth(user: "anna", password: "geheim")])
        let endPoint = URLEndPoint(.get, URL(text: "https://api.example.com/a"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 { group.addTask { _ = try await router.response(for: endPoint) } }
            try await group.waitForAll()
        }
        #expect(Set(counts.all).count == 10)
        #expect(counts.all.count == 10)
    }
}

extension [UInt8] {
    fileprivate func contains(subsequence other: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
