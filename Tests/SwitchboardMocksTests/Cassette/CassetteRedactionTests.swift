import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CassetteRedactionTests {
    /// A token with characters that are escaped in queries, in JSON and in base64 of both alphabets.
    static let token = #"tok/en+"s3cr=et é>>?"#
    static let encoded = "tok%2Fen%2B%22s3cr%3Det%20%C3%A9%3E%3E%3F"

    /// Returns the texts that a file must not contain.
    private static func traces(of secret: String) -> [String] {
        let data = Data(secret.utf8)
        let base64 = data.base64EncodedString()
        return [
            secret, encoded, encoded.lowercased(), encoded.replacingOccurrences(of: "%20", with: "+"), base64,
            #"tok/en+\"s3cr=et"#, #"tok\/en"#, "s3cr", (Data("x".utf8) + data).base64EncodedString(),
        ]
    }

    @Test("a credential of an interceptor is masked in a field of any name")
    func credentialField() async throws {
        try await withFile { file in
            let key = "s3cret-key-1"
            var request = NetworkRequest(text: "https://h.example/")
            request.setCredential("X-Acme", key)
            let live = try await Cassette.recording([request], in: file) {
                .text("you sent \($0.headers["X-Acme"] ?? "nothing")")
            }
            #expect(live.first?.text == "you sent \(key)")
            let text = try Archive(file).text
            #expect(text.contains("X-Acme") && !text.contains(key))
            let played = try Cassette.playing(file, matching: .standard.adding(.header("X-Acme")))
            #expect(try await played.send(request).text == "you sent REDACTED")
        }
    }

    /// One request and answer for each part that may contain a secret first, with an echo of it elsewhere.
    static let exchanges: [(String, NetworkRequest, MockResponse)] = [
        (
            "a bearer token that the server echoes",
            NetworkRequest(text: "https://h.example/\(encoded)", headers: ["Authorization": "Bearer \(token)"]),
            .json(["seen": "Bearer \(token)", "again": token])
        ),
        (
            "a password of Basic, echoed in clear",
            NetworkRequest(
                text: "https://h.example/",
                headers: ["Authorization": "Basic \(Data("me:\(token)".utf8).base64EncodedString())"]),
            .text("hello \(token)")
        ),
        (
            "a query value, echoed decoded and in a redirect",
            NetworkRequest(text: "https://h.example/?api_key=\(encoded)&page=1"),
            .status(302, headers: ["Location": "/next?other=\(encoded)", "X-Echo": "k=\(encoded.lowercased())"])
        ),
        (
            "a form field, echoed as JSON",
            NetworkRequest(
                .post, text: "https://h.example/", body: FormBody(["name": "x", "password": token] as Parameters)),
            .json(["form": ["value": token]])
        ),
        (
            "a JSON member, echoed as JSON within JSON",
            NetworkRequest(.post, text: "https://h.example/", body: JSONBody(["user": ["password": token]])),
            .json(["data": #"{"user":{"password":\#(quoted(token))}}"#])
        ),
        (
            "a JSON member of the answer",
            NetworkRequest(text: "https://h.example/"), .json(["access_token": token, "list": [["token": [token]]]])
        ),
        (
            "cookies both ways",
            NetworkRequest(text: "https://h.example/", headers: ["Cookie": "theme=dark; sid=\(encoded)"]),
            .text("cookie \(token)", headers: ["Set-Cookie": "sid=\(encoded); Path=/; HttpOnly"])
        ),
        (
            "bytes that are no text",
            NetworkRequest(
                .post, text: "https://h.example/", headers: ["X-Api-Key": token],
                body: DataBody(Data([0, 255]) + Data(token.utf8))),
            .data(Data([255, 0, 1]) + Data(token.utf8))
        ),
        (
            "user and password of the URL", NetworkRequest(text: "https://me:\(encoded)@h.example/"),
            .text("hello \(token)")
        ),
        (
            "a part of a multipart form",
            NetworkRequest(
                .post, text: "https://h.example/",
                body: DataBody(
                    Data("--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(token)\r\n--b--\r\n".utf8),
                    contentType: "multipart/form-data; boundary=b")),
            .text(token)
        ),
        (
            "base64 of it in a text", NetworkRequest(text: "https://h.example/", headers: ["X-Token": token]),
            .text("data:;base64,\((Data("x".utf8) + Data(token.utf8)).base64EncodedString())")
        ),
        (
            "markup", NetworkRequest(text: "https://h.example/", headers: ["X-Token": token]),
            .text("<a><token>s3cr</token></a>", headers: ["Content-Type": "application/xml"])
        ),
    ]

    @Test("the file contains no trace of a secret", arguments: exchanges.indices)
    func noTrace(index: Int) async throws {
        let (place, request, answer) = Self.exchanges[index]
        try await withFile { file in
            let live = try await Cassette.recording([request], in: file) { _ in answer }
            let text = try Archive(file).text
            for trace in Self.traces(of: Self.token) { #expect(!text.contains(trace), "\(place): \(trace)") }
            // The live response is unchanged.
            #expect(live.map(\.body) == [answer.body])
            #expect(live.map(\.headers) == [answer.headers])
            // The cassette plays with the live secret and with another one.
            for mode in [Cassette.Mode.replay, .strict] {
                _ = try await Cassette(file: file, mode: mode, recording: NoNetwork()).run {
                    try await $0.send(request)
                }
            }
        }
    }

    @Test("without redaction, the token is in the file")
    func withoutRedaction() async throws {
        try await withFile { file in
            let (_, request, answer) = Self.exchanges[0]
            try await Cassette.recording([request], in: file, redaction: .none) { _ in answer }
            let archive = try Archive(file)
            #expect(archive.text.contains("s3cr"))
            #expect(archive.text("request.headers.0.value") == "Bearer \(Self.token)")
        }
    }

    @Test("masks replace the secrets")
    func masks() async throws {
        try await withFile { file in
            let request = NetworkRequest(
                .post, text: "https://me:hunter22@h.example/p?token=t0p-s3cret&page=1",
                headers: ["Authorization": "Bearer abcdefgh", "Cookie": "a=1; b=2", "Referer": "https://r/?key=5"],
                body: JSONBody(["password": "abcdefgh", "pin": 1234, "name": "n"]))
            try await Cassette.recording([request], in: file) { _ in
                .status(
                    302,
                    headers: [
                        "Location": "/x?token=t0p-s3cret", "Set-Cookie": "a=secret12; Path=/; Secure",
                        "Access-Control-Allow-Credentials": "true",
                    ],
                    body: Data("say abcdefgh".utf8))
            }
            let archive = try Archive(file)
            #expect(archive.text("request.url") == "https://REDACTED@h.example/p?token=REDACTED&page=1")
            #expect(archive.text("request.queryString.0.value") == "REDACTED")
            #expect(archive.text("request.queryString.1.value") == "1")
            #expect(archive.text("request.headers.0.value") == "REDACTED")
            #expect(archive.text("request.headers.1.value") == "a=REDACTED; b=REDACTED")
            #expect(archive.text("request.headers.2.value") == "https://r/?key=REDACTED")
            #expect(archive.text("request.cookies.1.name") == "b")
            #expect(archive.text("request.cookies.1.value") == "REDACTED")
            #expect(archive.text("request.postData.text") == #"{"password":"REDACTED","pin":"REDACTED","name":"n"}"#)
            #expect(archive.text("response.redirectURL") == "/x?token=REDACTED")
            #expect(archive.text("response.headers.0.value") == "/x?token=REDACTED")
            #expect(archive.text("response.headers.1.value") == "a=REDACTED; Path=/; Secure")
            #expect(archive.text("response.headers.2.value") == "true")
            #expect(archive.text("response.cookies.0.value") == "REDACTED")
            #expect(archive.text("response.cookies.0.path") == "/")
            #expect(archive.value("response.cookies.0.secure") as? Bool == true)
            #expect(archive.text("response.content.text") == "say REDACTED")
        }
    }

    /// Replaces secrets by their names that are too short to be replaced elsewhere.
    @Test("short secrets are replaced only where their names mark them")
    func shortSecrets() async throws {
        try await withFile { file in
            func part(_ name: String, _ text: String, _ type: String = "text/plain") -> String {
                "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n\(text)\r\n"
            }
            let parts =
                part("password", "p1") + part("name", "p2") + part("data", #"{"token":"p3"}"#, "application/json")
            let requests: [(String, String, String)] = [
                (
                    parts + "--b--\r\n", "multipart/form-data; boundary=b",
                    part("password", "REDACTED") + part("name", "p2")
                        + part("data", #"{"token":"REDACTED"}"#, "application/json") + "--b--\r\n"
                ),
                ("a=1&password=p1&b=2", "application/x-www-form-urlencoded", "a=1&password=REDACTED&b=2"),
                (#"[{"a":{"secret":"p1"}}]"#, "application/json", #"[{"a":{"secret":"REDACTED"}}]"#),
                ("<a><token>p1</token></a>", "text/xml", "<a><token>REDACTED</token></a>"),
            ]
            try await Cassette.recording(
                requests.map {
                    NetworkRequest(
                        .post, text: "https://h.example/", body: DataBody(Data($0.0.utf8), contentType: $0.1))
                }, in: file)
            let archive = try Archive(file)
            #expect(requests.indices.map { archive.text("request.postData.text", of: $0) } == requests.map(\.2))
            // Replaced values stay unchanged.
            try await Cassette.recording([NetworkRequest(text: "https://h.example/")], in: file)
            let again = try Archive(file)
            #expect(requests.indices.map { again.text("request.postData.text", of: $0) } == requests.map(\.2))
        }
    }

    @Test("the redaction's own names and masks apply")
    func ownNamesAndMasks() async throws {
        try await withFile { file in
            var redaction = Redaction.standard.adding(headerNames: ["X-Tenant"], parameterNames: ["tenant"])
            redaction.mask = "tenant-0"
            let request = NetworkRequest(
                text: "https://h.example/?tenant=acme-corp", headers: ["X-Tenant": "acme-corp"])
            try await Cassette.recording([request], in: file, redaction: redaction) { _ in .text("for acme-corp") }
            let archive = try Archive(file)
            #expect(archive.urls == ["https://h.example/?tenant=tenant-0"])
            #expect(archive.text("request.headers.0.value") == "tenant-0")
            #expect(archive.text("response.content.text") == "for tenant-0")
        }
    }

    @Test("a request with a secret known only from a response is played")
    func secretFromResponse() async throws {
        try await withFile { file in
            let requests = ["midnight", "daylight"].map { (theme: String) in
                NetworkRequest(
                    .post, text: "https://h.example/\(theme)?theme=\(theme)", body: JSONBody(["theme": theme]))
            }
            try await Cassette.recording(requests, in: file) {
                .text("", headers: ["Set-Cookie": "theme=\($0.path.dropFirst())"])
            }
            #expect(try !Archive(file).text.contains("light"))
            try await Cassette(file: file, mode: .replay, recording: NoNetwork()).run { cassette in
                for request in requests { _ = try await cassette.send(request) }
            }
        }
    }

    @Test("a number that contains a secret is masked in JSON, and plays")
    func numbers() async throws {
        try await withFile { file in
            let request = NetworkRequest(.post, text: "https://h.example/", body: JSONBody(["seen": 1_748_291_300]))
            try await Cassette.recording([request], in: file) { _ in
                .json(#"{"time":1748291300,"id":17482913005}"#, headers: ["Set-Cookie": "visit=1748291300"])
            }
            let archive = try Archive(file)
            #expect(archive.text("request.postData.text") == #"{"seen":"REDACTED"}"#)
            #expect(archive.text("response.content.text") == #"{"time":"REDACTED","id":"REDACTED"}"#)
            #expect(!archive.text.contains("1748291300"))
            let cassette = try Cassette.playing(file)
            cassette.hold(.any, to: try Contract("$: object\ntime: integer\nid: integer"))
            let played = try await cassette.send(request)
            #expect(played.text == #"{"time":"REDACTED","id":"REDACTED"}"#)
            #expect(cassette.faults == [])
        }
    }

    @Test("recording more replaces secrets in stored entries too")
    func secretsOfStoredEntries() async throws {
        try await withFile { file in
            let first = NetworkRequest(text: "https://h.example/first")
            try await Cassette.recording([first], in: file) { _ in .text("a late-secret shows") }
            #expect(try Archive(file).text.contains("late-secret"))
            let second = NetworkRequest(text: "https://h.example/second", headers: ["X-Api-Key": "late-secret"])
            try await Cassette.recording([second], in: file)
            let archive = try Archive(file)
            #expect(!archive.text.contains("late-secret"))
            #expect(archive.text("response.content.text") == "a REDACTED shows")
        }
    }

    @Test("the text of a fault has no secret")
    func faultsWithoutSecrets() async throws {
        try await withFile { file in
            try await Cassette.recording([NetworkRequest(text: "https://h.example/a?token=recorded-one")], in: file)
            let cassette = try Cassette.playing(file)
            let request = NetworkRequest(
                .post, text: "https://h.example/b/live-one?token=live-one", body: JSONBody(["text": "live-one"]))
            let error = await #expect(throws: NetworkError.self) { try await cassette.send(request) }
            #expect(error?.reason?.contains("token=REDACTED") == true)
            #expect(error?.reason?.contains("live-one") == false)
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacingOccurrences(of: "\"", with: "\\\""))\""
    }
}

extension MockResponse {
    /// Creates JSON as another encoder writes it, with escaped slashes.
    fileprivate static func json(_ value: Any) -> MockResponse {
        .json((try? JSONSerialization.data(withJSONObject: value)) ?? Data())
    }
}
