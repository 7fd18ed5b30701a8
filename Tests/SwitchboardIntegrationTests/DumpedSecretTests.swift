import Foundation
import SwitchboardCache
import SwitchboardCookies
import SwitchboardHAR
import SwitchboardCalls
import SwitchboardStreams
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth
@testable import SwitchboardWebSocket

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Fills each type that can hold a secret, and searches what `print` and `dump` write about it.
@Suite(.timeLimit(.minutes(10)))
struct DumpedSecretTests {
    private static let secret = "pl4ntedSecret"
    private static let url = URL(text: "https://me:pl4ntedSecret@a.example.com/a?api_key=pl4ntedSecret")
    private static let plain = URL(text: "https://a.example.com/a")

    /// Each form in which a dump could contain the secret: as text, Base64, or the bytes of a `Data`.
    private static let forms = [
        "pl4ntedSecret", Data("pl4ntedSecret".utf8).base64EncodedString(),
        Array("pl4nted".utf8).map { "- \($0)\n" }.joined(),
    ]

    private static func leak(of value: Any) -> String? {
        var dumped = ""
        dump(value, to: &dumped)
        let lines = dumped.split(separator: "\n").map { $0.drop { $0 == " " } + "\n" }.joined()
        return [String(describing: value), String(reflecting: value), dumped, lines]
            .first { text in forms.contains(where: text.contains) }
    }

    private static var configuration: SessionConfiguration {
        var configuration = SessionConfiguration()
        configuration.proxy = .http("127.0.0.1", port: 9, user: "me", password: secret)
        configuration.tls.clientIdentity = .init(
            certificate: .data(Data("-----BEGIN CERTIFICATE-----\n\(secret)".utf8)),
            key: .data(Data("-----BEGIN PRIVATE KEY-----\n\(secret)".utf8)), password: secret)
        return configuration
    }

    private static func holders(_ session: any NetworkSession) -> [Any] {
        let manager = NetworkManager(
            session: session, interceptors: [BearerAuth(secret)], headers: ["Authorization": secret])
        let wrapped = SessionChain {
            BearerAuth(secret)
            session
        }
        return [
            session, manager, manager.router(for: URLEndPoint.self), wrapped,
            Router<URLEndPoint>(session: session), [manager], ["a": session],
            OAuth2Client(id: "app", secret: secret, tokenURL: url, session: session),
        ]
    }

    @Test("sessions and what holds one print no password", .requirement("S2.24"))
    func sessions() throws {
        var values: [Any] = [Self.configuration, Self.configuration.proxy, Self.configuration.tls]
        values += Self.holders(DefaultSession.make(Self.configuration))
        values += Self.holders(FoundationSession(configuration: Self.configuration))
        for value in values {
            let text = Self.leak(of: value)
            #expect(text == nil, "\(type(of: value))")
        }
    }

    @Test("messages, bodies and errors print no secret", .requirement("S2.24"))
    func values() throws {
        let secret = Self.secret
        let pairs: Parameters = ["password": secret, "list": ["token": secret]]
        let text = "token=\(secret)"
        var request = NetworkRequest(.post, Self.url, headers: ["Authorization": secret])
        request.body = DataBody(Data(text.utf8))
        let response = NetworkResponse(
            statusCode: 200, headers: ["Set-Cookie": "sid=\(secret)"], body: Data(text.utf8), url: Self.url)
        var error = NetworkError(.error4xx, reason: text)
        (error.body, error.serverMessage, error.url) = (Data(text.utf8), text, Self.url)
        let oauth = OAuthError(.invalidGrant, text: text, uri: Self.url.absoluteString)
        let closure = WebSocketClosure(code: .normalClosure, reason: text, isFromServer: true)
        error.underlying = oauth
        let values: [Any] = [
            request, response, error, oauth, OAuthError(.init(rawValue: text)), closure, pairs,
            HTTPHeaders(["Authorization": secret]), request.body, JSONBody(pairs), FormBody(pairs),
            GzipBody(request.body), MultipartBody(.field("password", secret)),
            MultipartBody.Part.field("password", secret),
            HTTPTask.requestParameters(bodyParameters: pairs, urlParameters: pairs),
            HTTPTask.requestBody(request.body, headers: ["Authorization": secret]),
            URLEndPoint(.post, Self.url, task: .requestParameters(pairs)), ParameterValue.object(pairs),
            PathEndPoint(.post, "a?api_key=\(secret)", task: .requestParameters(pairs)),
            PageSequence<Int, URL>.Page(value: 1, response: response, next: Self.url),
            WebSocketState.closed(closure), WebSocketState.reconnecting(after: error),
            Result<Int, any Error>.failure(error),
            OAuthToken(accessToken: secret, refreshToken: secret, idToken: secret),
            BasicCredentials(user: "me", password: secret),
            EnvironmentURLs(dictionaryLiteral: (.production, Self.url.absoluteString)),
        ]
        for value in values + values.map({ [$0] as [Any] }) + [values.map(Optional.some)] {
            let leak = Self.leak(of: value)
            #expect(leak == nil, "\(type(of: value))")
        }
    }

    @Test("mocks, recordings and stored state print no secret", .requirement("S2.24"))
    func recordings() async throws {
        let secret = Self.secret
        let answer = MockResponse.json(#"{"token":"\#(secret)"}"#, headers: ["Set-Cookie": "sid=\(secret)"])
        let session = StubSession { _ in answer }
        let jar = CookieJar()
        let recorder = HARRecorder()
        let cache = ResponseCache()
        try await withFolder { folder in
            let file = folder.appendingPathComponent("a.har")
            let cassette = try Cassette(file: file, mode: .rewrite, recording: session)
            let router = Router<URLEndPoint>(
                session: cassette, interceptors: [cache], exchangeInterceptors: [CookieInterceptor(jar)],
                options: RequestOptions { $0.monitors = [recorder] })
            let body = JSONBody(["password": secret] as Parameters)
            _ = try await router.response(
                for: URLEndPoint(
                    .post, Self.url, task: .requestBody(body), headers: ["Authorization": secret]))
            try cassette.save()
            let played = try Cassette(file: file, mode: .replay, recording: session)
            #expect(session.recordedRequests.count == 1 && jar.cookies().count + recorder.count > 0)
            var values: [Any] = [session, session.requests, session.recordedRequests, answer, jar, jar.cookies()]
            values += [recorder, cache, cassette, played, router, MemoryTokenStore(OAuthToken(accessToken: secret))]
            values += [MockResponse.failure(.connectionLost, reason: "token=\(secret)")]
            values += [
                MockResponse.Step.send("token: \(secret)"), WebSocketStep.text(secret),
                WebSocketStep.close(reason: secret),
            ]
            let sent = URLEndPoint(.get, Self.url, headers: ["Authorization": secret])
            values += [router.request(sent) { _, _, _ in }, router.calls]
            for value in values {
                let leak = Self.leak(of: value)
                #expect(leak == nil, "\(type(of: value))")
            }
        }
    }
}
