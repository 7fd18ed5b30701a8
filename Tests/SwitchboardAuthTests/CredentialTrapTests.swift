@testable import SwitchboardAuth
@testable import SwitchboardHAR
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

/// Traps that first-time users of the credentials ran into.
@Suite(.timeLimit(.minutes(10)))
struct CredentialTrapTests {
    private let url = URL(text: "https://api.example.com/a")
    private let tokenURL = URL(text: "https://login.example.com/token")

    private func echo() -> StubSession {
        StubSession { request in .text(request.headers["Authorization"] ?? "none") }
    }

    @Test("a sign-in serves the manager's environment and no other", .requirement("S2.21"))
    func environments() async throws {
        let session = echo()
        let client = OAuth2Client(id: "app", tokenURL: tokenURL, session: session)
        let login = AuthenticationInterceptor(OAuth2Authenticator(client))
        let manager = NetworkManager(environment: .staging, session: session, interceptors: [login])
        try await login.signIn(OAuthToken(accessToken: "t1"), in: manager.environment)
        #expect(try await manager.response(for: URLEndPoint(.get, url)).text == "Bearer t1")
        #expect(try await login.credential(in: .staging)?.accessToken == "t1")
        manager.environment = .qa
        let error = await #expect(throws: NetworkError.self) { try await manager.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.description.contains("not signed in for qa") == true)
        #expect(error?.description.contains("in: nil") == false)
        try await login.signOut(in: .staging)
        #expect(try await login.credential(in: .staging) == nil)
        try await login.signIn(OAuthToken(accessToken: "t2"), in: String?.none)
        let other = await #expect(throws: NetworkError.self) { try await manager.response(for: URLEndPoint(.get, url)) }
        #expect(
            other?.description.contains("not signed in for qa; there is a sign-in without an environment (in: nil)")
                == true)
    }

    @Test("an endpoint's partition stays separate within the environment")
    func ownPartition() async throws {
        let session = echo()
        let login = AuthenticationInterceptor(
            OAuth2Authenticator(OAuth2Client(id: "app", tokenURL: tokenURL, session: session)))
        let manager = NetworkManager(environment: .qa, session: session, interceptors: [login])
        for name in ["anna", "bob"] { try await login.signIn(OAuthToken(accessToken: name), in: "qa/\(name)") }
        for name in ["anna", "bob"] {
            let endPoint = URLEndPoint(.get, url, options: RequestOptions { $0.partition = name })
            let response = try await manager.response(for: endPoint)
            #expect(response.text == "Bearer \(name)")
            #expect(response.request?.environment == .qa)
        }
    }

    @Test("a refresh limit of zero still uses a saved credential")
    func limit() async throws {
        let server = KeyServer(1)
        let login = AuthenticationInterceptor(KeyAuthenticator(), refreshes: 0)
        let router = Router<URLEndPoint>(session: server.session, interceptors: [login])
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
    }

    @Test("an empty token or key is a typed error, and nothing is sent")
    func empty() async throws {
        let schemes: [any Interceptor] = [
            BearerAuth(""), APIKeyAuth("", in: .header("X-Api-Key")), APIKeyAuth("", in: .query("api_key")),
        ]
        for scheme in schemes {
            let session = echo()
            let router = Router<URLEndPoint>(session: session, interceptors: [scheme])
            let error = await #expect(throws: NetworkError.self) {
                try await router.rawResponse(for: URLEndPoint(.get, url))
            }
            #expect(error?.code == .cannotAuthenticate)
            #expect(error?.reason?.hasSuffix("is empty") == true)
            #expect(session.requests.isEmpty)
        }
    }

    @Test("a key in any field is masked in curl, plans, logs and archives", .requirement("S2.24"))
    func oddField() async throws {
        let recorder = HARRecorder()
        let lines = Deliveries<String>()
        let router = Router<URLEndPoint>(
            session: StubSession { request in .text("echo \(request.headers["X-Odd"] ?? "")") },
            interceptors: [
                APIKeyAuth("pl4ntedKey", in: .header("X-Odd")),
                NetworkLogger(writesCurlCommand: true, output: { lines.add($0) }),
            ],
            options: RequestOptions { $0.monitors = [recorder] })
        let response = try await router.rawResponse(for: URLEndPoint(.get, url))
        let plan = await router.explain(URLEndPoint(.get, url))
        #expect(response.request?.headers["X-Odd"] == "pl4ntedKey")
        for text in lines.all + [
            plan.description, response.request?.curlCommand ?? "", String(decoding: try recorder.data, as: UTF8.self),
        ] {
            #expect(!text.contains("pl4nted"), "\(text)")
        }
        #expect(plan.description.contains("X-Odd: <redacted>"))
    }

    @Test(
        "invalid_grant removes the token, also with odd members or status 200",
        arguments: [
            MockResponse.json(#"{"error":"invalid_grant","error_description":["x"]}"#, statusCode: 400),
            .json(#"{"error":"invalid_grant","error_uri":5}"#, statusCode: 400), .json(#"{"error":"invalid_grant"}"#),
        ])
    func invalidGrant(answer: MockResponse) async throws {
        let session = StubSession { request in request.url?.host == "login.example.com" ? answer : .status(401) }
        let login = AuthenticationInterceptor(
            OAuth2Authenticator(OAuth2Client(id: "app", tokenURL: tokenURL, session: session)))
        try await login.signIn(OAuthToken(accessToken: "a", refreshToken: "r"), in: nil)
        let router = Router<URLEndPoint>(session: session, interceptors: [login])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.oauthError?.code == .invalidGrant)
        #expect(try await login.credential(in: nil) == nil)
    }

    @Test("a scope as an array of words is accepted")
    func scopes() async throws {
        let answer = MockResponse.json(#"{"access_token":"a","token_type":"Bearer","scope":["read","write"]}"#)
        let client = OAuth2Client(id: "app", tokenURL: tokenURL, session: StubSession { _ in answer })
        #expect(try await client.clientCredentials().scope == "read write")
    }

    @Test("a redirect must carry the query of the redirect URI")
    func redirectQuery() throws {
        let client = OAuth2Client(
            id: "app", tokenURL: tokenURL, authorizationURL: tokenURL, redirectURI: "films://login?k=1")
        let request = try client.authorizationRequest()
        let whole = try #require(URL(string: "films://login?k=1&code=c&state=\(request.state)"))
        #expect(try request.code(in: whole) == "c")
        for query in ["", "k=2&"] {
            let other = try #require(URL(string: "films://login?\(query)code=c&state=\(request.state)"))
            let error = #expect(throws: NetworkError.self) { try request.code(in: other) }
            #expect(error?.oauthError?.code == .invalidRedirect)
        }
    }
}
