import Foundation
import SwitchboardCookies
import SwitchboardCalls
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth
@testable import SwitchboardHAR

/// Plants a token in each part of a call, and searches every text that the package prints about it.
@Suite(.timeLimit(.minutes(10)))
struct SecretTests {
    /// A separate token for each part, so that a leak shows its origin.
    private enum Planted {
        static let header = "pl4ntedHeader"
        static let query = "pl4ntedQuery"
        static let user = "pl4ntedUser"
        static let body = "pl4ntedBody"
        static let cookie = "pl4ntedCookie"
        static let answer = "pl4ntedAnswer"
        static let nested = "pl4ntedNested"
        static let echo = "pl4ntedEcho"
    }

    private struct Texts: EventMonitor {
        let texts = Deliveries<String>()
        func record(_ event: CallEvent) { for text in SecretTests.texts(of: event) { texts.add(text) } }
    }

    /// Returns each text that a developer can print of a value.
    private static func texts(of value: Any) -> [String] {
        var dumped = ""
        dump(value, to: &dumped)
        return ["\(value)", String(describing: value), String(reflecting: value), dumped]
    }

    // swift-format-ignore
    private static let url = URL(text: "https://me:pl4ntedUser@api.example.com/a?api_key=pl4ntedQuery&next=https%3A%2F%2Fb.example.com%2F%3Ftoken%3Dpl4ntedNested&page=1")

    private static func endPoint(_ method: HTTPMethod = .post) -> URLEndPoint {
        URLEndPoint(
            method, url,
            task: method == .get ? .request : .requestBody(JSONBody(["password": Planted.body, "title": "Alien"])),
            headers: ["Authorization": "Bearer \(Planted.header)", "Cookie": "sid=\(Planted.cookie)"])
    }

    @Test("a redirect that repeats the key of an exchange interceptor is masked")
    func repeatedKey() async throws {
        let monitor = Events()
        let router = Router<URLEndPoint>(
            session: StubSession(.status(302, headers: ["Location": "/b?appid=s3cret99"]), .status(404)),
            exchangeInterceptors: [APIKeyAuth("s3cret99", in: .query("appid"))],
            options: RequestOptions { $0.monitors = [monitor] })
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, URL(text: "https://h.example/a")))
        }
        let text = monitor.all.map { "\($0)" }.joined(separator: "\n") + "\n\(try #require(error))"
        #expect(!text.contains("s3cret99") && text.contains("appid"), "\(text)")
    }

    @Test(
        "planted tokens are in no log, event, error, plan, history or archive",
        .requirement("S2.24", "S3.14"),
        arguments: [
            MockResponse.json(#"{"token":"pl4ntedAnswer","id":7}"#, headers: ["Set-Cookie": "sid=pl4ntedAnswer"]),
            .status(
                302,
                headers: [
                    "Location": "https://c.example.com/?access_token=pl4ntedAnswer&tmdb=pl4ntedKey&sum=pl4ntedSum"
                ]),
            .json(#"{"message":"bad header Authorization: Bearer pl4ntedEcho"}"#, statusCode: 401),
            .text("see https://d.example.com/?token=pl4ntedEcho", statusCode: 500),
            .failure(.connectionLost, reason: "over https://e.example.com/?token=pl4ntedEcho"),
        ])
    func everyText(answer: MockResponse) async throws {
        let recorder = HARRecorder()
        let monitor = Texts()
        let output = monitor.texts
        let chain: [any Interceptor] = [
            APIKeyAuth("pl4ntedKey", in: .query("tmdb")),
            NetworkLogger(level: .body, writesCurlCommand: true, output: { output.add($0) }),
            RetryPolicy(maximumAttempts: 2, clock: TestClock(skips: true)),
            APIKeyAuth("pl4ntedKey", in: .query("user_no")),
            RequestSigner { $0.url = URL(string: ($0.url?.absoluteString ?? "") + "&sum=pl4ntedSum") },
        ]
        let router = Router<URLEndPoint>(
            session: StubSession { _ in answer }, interceptors: chain,
            options: RequestOptions { $0.monitors += [monitor, recorder] })
        for method in [HTTPMethod.get, .post] {
            let endPoint = Self.endPoint(method)
            var printed: [String] = Self.texts(of: endPoint) + Self.texts(of: await router.explain(endPoint))
            let request = try router.makeRequest(for: endPoint)
            printed += Self.texts(of: request) + Self.texts(of: request.headers) + [request.curlCommand]
            var foreign = URLRequest(url: Self.url)
            foreign.setValue("Bearer \(Planted.header)", forHTTPHeaderField: "Authorization")
            foreign.httpBody = Data(#"{"password":"pl4ntedBody"}"#.utf8)
            printed.append(foreign.curlCommand)
            do {
                let response = try await router.request(endPoint, as: [Int].self)
                Issue.record("no list was expected: \(response)")
            } catch let error as NetworkError {
                printed += Self.texts(of: error) + Self.texts(of: error.history) + [error.waterfall, error.message]
                printed += [error.errorDescription, error.failureReason, error.localizedDescription].compactMap { $0 }
                printed += error.history.flatMap(Self.texts)
                if let response = error.response { printed += Self.texts(of: response) + [response.waterfall] }
            }
            printed += output.all
            printed.append(String(decoding: try recorder.data, as: UTF8.self))
            #expect(printed.count > 20)
            for text in printed where text.contains("pl4nted") {
                let place = text.range(of: "pl4nted").map { text[$0.lowerBound...].prefix(20) } ?? ""
                Issue.record("\(place) is in: \(text)")
            }
        }
        #expect(!output.all.isEmpty)
        #expect(output.all.contains { $0.contains("page=1") })  // The rest stays readable.
    }

    @Test("the name of a key in the query hides no members of bodies")
    func memberNames() async throws {
        var request = NetworkRequest(.get, URL(text: "https://h.test/"))
        try await APIKeyAuth("s3cret", in: .query("code")).adapt(&request)
        let redaction = request.redaction(extending: .standard)
        #expect(redaction.text(#"{"code":"NotFound"}"#) == #"{"code":"NotFound"}"#)
        #expect(!redaction.url("https://h.test/?code=s3cret").contains("s3cret"))
    }

    @Test("types that hold credentials print none of them, alone or in a plan", .requirement("S2.24"))
    func holders() async throws {
        let secret = "pl4ntedSecret"
        let url = URL(text: "https://api.example.com/a")
        let server = URL(text: "https://login.example.com/token")
        let jar = CookieJar()
        jar.store(["sid=\(secret); Path=/"], from: url)
        let token = OAuthToken(accessToken: secret, refreshToken: secret, idToken: secret)
        let client = OAuth2Client(
            id: "app", secret: secret, tokenURL: server, authorizationURL: server, redirectURI: "app://login")
        let login = AuthenticationInterceptor(OAuth2Authenticator(client, store: MemoryTokenStore(token)))
        try await login.signIn(token, in: nil)
        let schemes: [any Interceptor] = [
            BearerAuth(secret), BearerAuth { secret }, BasicAuth(user: "me", password: secret),
            DigestAuth(user: "me", password: secret), APIKeyAuth(secret, in: .header("X-Api-Key")),
            APIKeyAuth(secret, in: .query("api_key")), login,
            CompositeAuth(["a": BearerAuth(secret)]) { _ in .named("a") },
            CommonParameters(["token": secret]), CommonHeaders(["X-Token": secret]),
            RequestSigner { request in request.headers["X-Signature"] = secret },
            ServerDefaults(host: "api.example.com", headers: ["Authorization": secret], query: ["token": secret]),
        ]
        var printed: [(String, String)] = []
        func add(_ value: Any) { printed += Self.texts(of: value).map { ("\(type(of: value))", $0) } }
        add(token)
        add(client)
        add(BasicCredentials(user: "me", password: secret))
        add(MemoryTokenStore(token))
        add(jar)
        for cookie in jar.cookies() { add(cookie) }
        let authorization = try client.authorizationRequest()
        let verifier = authorization.verifier
        for text in Self.texts(of: authorization) { #expect(!text.contains(verifier)) }
        for scheme in schemes {
            add(scheme)
            let monitor = Texts()
            let lines = monitor.texts
            let router = Router<URLEndPoint>(
                session: StubSession { _ in .status(401) },
                interceptors: [
                    scheme, NetworkLogger(level: .body, writesCurlCommand: true, output: { lines.add($0) }),
                ],
                exchangeInterceptors: [CookieInterceptor(jar)],
                options: RequestOptions { $0.monitors = [monitor] })
            add(await router.explain(URLEndPoint(.post, url)))
            do { add(try await router.rawResponse(for: URLEndPoint(.post, url))) } catch { add(error) }
            #expect(!lines.all.isEmpty)
            printed += lines.all.map { ("a log or event of \(type(of: scheme))", $0) }
        }
        for (type, text) in printed where text.contains("pl4nted") || text.contains("cGw0bnRlZF") {
            Issue.record("\(type): \(text)")
        }
        #expect(printed.count > 60)
    }

    @Test("a secret in a nested, escaped URL is masked; the rest stays readable")
    func nestedURLs() {
        let redaction = Redaction.standard
        let once = redaction.url("https://a.example.com/?next=https%3A%2F%2Fb%2F%3Ftoken%3Dhunter2%26page%3D2&q=50%25")
        #expect(once == "https://a.example.com/?next=https%3A%2F%2Fb%2F%3Ftoken%3D<redacted>%26page%3D2&q=50%25")
        let twice = redaction.url("https://a.example.com/?n=x%253Ftoken%253Dhunter2")
        #expect(!twice.contains("hunter2"))
        #expect(twice.hasPrefix("https://a.example.com/?n=x"))
        #expect(redaction.url("https://a.example.com/?q=a%3Db%20c") == "https://a.example.com/?q=a%3Db%20c")
        #expect(redaction.form("a=%zz%3Dtoken") == "a=%zz%3Dtoken")
    }

    @Test("header lines in prose are masked; words that only sound secret stay")
    func prose() {
        let redaction = Redaction.standard
        #expect(
            redaction.text("got Authorization: Bearer hunter2\nand X: y=1")
                == "got Authorization: <redacted>\nand X: y=1")
        #expect(redaction.text("got X-Api-Key: hunter2; a=b") == "got X-Api-Key: <redacted>; a=b")
        #expect(redaction.text("X-Api-Key: hunter2; a=b") == "X-Api-Key: <redacted>")
        #expect(redaction.text("invalid token: it is too old=1") == "invalid token: it is too old=1")
        #expect(redaction.value("true", ofHeader: "Access-Control-Allow-Credentials") == "true")
    }
}
