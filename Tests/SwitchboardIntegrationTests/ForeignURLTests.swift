import Foundation
import SwitchboardStreams
import SwitchboardTesting
import Testing

@testable import Switchboard
import SwitchboardTestSupport
@testable import SwitchboardAuth

/// The credentials that a manager sends to a URL that may come from a response.
@Suite(.timeLimit(.minutes(10)))
struct ForeignURLTests {
    private let servers: EnvironmentURLs = [
        .production: "https://api.example.com/v1", .staging: "https://staging.example.com",
    ]
    private let foreign = URL(text: "https://evil.example.net/avatar.png")

    /// Returns every interceptor that adds data of the app, each with `origins` or `common`.
    private static func adding(
        origins: CredentialOrigins = .endPoints, common: CredentialOrigins = .endPoints
    ) -> [any Interceptor] {
        [
            BearerAuth("SECRET", origins: origins), BearerAuth(origins: origins) { "SECRET" },
            APIKeyAuth("SECRET", in: .query("api_key"), origins: origins),
            APIKeyAuth("SECRET", in: .header("X-Custom"), origins: origins),
            BasicAuth(user: "SECRET", password: "p", origins: origins),
            DigestAuth(user: "SECRET", password: "p", origins: origins),
            AuthenticationInterceptor(
                KeyAuthenticator(stored: ["production": Key(number: 1)]), origins: origins),
            AuthenticationInterceptor(
                OAuth2Authenticator(
                    OAuth2Client(id: "app", tokenURL: URL(text: "https://login.example.com/token")), store: Stored()),
                origins: origins),
            RequestSigner(origins: origins) { $0.headers["X-Signature"] = "SECRET" },
            CompositeAuth(["app": BearerAuth("SECRET", origins: origins)]) { _ in .named("app") },
            CommonHeaders(["X-Token": "SECRET"], origins: common),
            CommonHeaders(origins: common) { ["X-Token": "SECRET"] },
            CommonParameters(["token": "SECRET"], origins: common),
            CommonParameters(origins: common) { ["token": "SECRET"] },
        ]
    }

    private struct Stored: TokenStore {
        func load(in partition: String?) -> OAuthToken? { OAuthToken(accessToken: "SECRET") }
        func save(_ token: OAuthToken, in partition: String?) {}
        func remove(in partition: String?) {}
        func removeAll() {}
    }

    /// Creates a session that challenges ``DigestAuth`` for a digest.
    private func makeSession(for interceptor: (any Interceptor)? = nil) -> StubSession {
        StubSession { request in
            guard interceptor is DigestAuth, !request.headers.contains("Authorization") else { return .text("[]") }
            return .status(401, headers: ["WWW-Authenticate": #"Digest realm="r", nonce="n", qop="auth""#])
        }
    }

    private func hasSecret(_ request: NetworkRequest) -> Bool {
        let fields = request.headers.contains { $0.value.contains("SECRET") || $0.name == "Authorization" }
        return fields || request.url?.absoluteString.contains("SECRET") == true
    }

    /// Sends a URL to a manager by every kind of call.
    private func ask(_ manager: NetworkManager, _ url: URL, _ folder: URL) async {
        let router = manager.router(for: URLEndPoint.self)
        let endPoint = URLEndPoint(.get, url)
        _ = try? await manager.data(from: url)
        _ = try? await manager.download(from: url, to: folder.appendingPathComponent("a"))
        _ = try? await manager.response(for: endPoint)
        _ = try? await manager.request(endPoint, as: String.self)
        _ = try? await router.response(for: endPoint)
        _ = try? await router.upload(endPoint, progress: TransferProgress())
        _ = try? await router.download(endPoint, to: folder.appendingPathComponent("b"))
        var pages = router.pages(for: endPoint, as: [Int].self).makeAsyncIterator()
        _ = try? await pages.next()
    }

    @Test("a manager with servers sends no credentials to a foreign URL")
    func foreignURL() async throws {
        try await withFolder { folder in
            for interceptor in Self.adding() {
                let session = makeSession(for: interceptor)
                let manager = NetworkManager(servers: servers, session: session, interceptors: [interceptor])
                await ask(manager, foreign, folder)
                #expect(session.requests.count >= 8)
                #expect(!session.requests.contains(where: hasSecret), "\(interceptor)")
            }
        }
    }

    @Test("a URL of the environment's servers gets the app's credentials")
    func ownURL() async throws {
        for interceptor in Self.adding() {
            let session = makeSession(for: interceptor)
            let manager = NetworkManager(servers: servers, session: session, interceptors: [interceptor])
            _ = try await manager.data(from: URL(text: "https://API.example.com:443/challenge"))
            #expect(session.requests.last.map(hasSecret) == true, "\(interceptor)")
            for other in ["https://staging.example.com/challenge", "http://api.example.com/challenge"] {
                _ = try? await manager.data(from: #require(URL(string: other)))
                #expect(session.requests.last.map(hasSecret) == false, "\(interceptor) at \(other)")
            }
            _ = try await manager.send(Own())
            #expect(session.requests.last.map(hasSecret) == true, "\(interceptor)")
        }
    }

    @Test("an endpoint's base URL gets the manager's credentials")
    func ownBaseURL() async throws {
        for interceptor in Self.adding() {
            let session = makeSession(for: interceptor)
            let manager = NetworkManager(servers: servers, session: session, interceptors: [interceptor])
            _ = try await manager.router(for: Elsewhere.self).response(for: .challenge)
            #expect(session.requests.last.map(hasSecret) == true, "\(interceptor)")
        }
    }

    @Test("a foreign URL gets credentials if the origins name it")
    func explicit() async throws {
        for interceptor in Self.adding(origins: ["https://evil.example.net"], common: ["evil.example.net"]) {
            let session = makeSession(for: interceptor)
            let manager = NetworkManager(servers: servers, session: session, interceptors: [interceptor])
            _ = try await manager.data(from: URL(text: "https://evil.example.net/challenge"))
            #expect(session.requests.last.map(hasSecret) == true, "\(interceptor)")
        }
    }

    @Test("without servers a URL gets no credentials, but a URLEndPoint does")
    func withoutServers() async throws {
        try await withFolder { folder in
            for interceptor in Self.adding() {
                let session = makeSession(for: interceptor)
                let manager = NetworkManager(session: session, interceptors: [interceptor])
                let url = URL(text: "https://evil.example.net/challenge")
                _ = try? await manager.data(from: url)
                _ = try? await manager.download(from: url, to: folder.appendingPathComponent("a"))
                #expect(!session.requests.contains(where: hasSecret), "\(interceptor)")
                _ = try await manager.response(for: URLEndPoint(.get, url))
                #expect(session.requests.last.map(hasSecret) == true, "\(interceptor)")
            }
        }
    }

    @Test("a manager's headers with secret names go only to its servers")
    func managerHeaders() async throws {
        let session = makeSession()
        let manager = NetworkManager(servers: servers, session: session, headers: ["X-Api-Key": "SECRET"])
        _ = try await manager.data(from: foreign)
        let own = URLEndPoint(.get, foreign, headers: ["X-Api-Key": "SECRET"])
        _ = try await manager.response(for: own)
        _ = try await manager.send(Own())
        #expect(session.requests.map(hasSecret) == [false, true, true])
        #expect(session.requests[0].headers["Accept"] == "*/*")
    }

    @Test("common fields and parameters do not follow a Link to another origin")
    func nextLink() async throws {
        func secrets(_ interceptor: any Interceptor) async throws -> [Bool] {
            let session = StubSession(
                .json("[1]", headers: ["Link": "<https://evil.example.net/2>; rel=next"]),
                .json("[2]", headers: ["Link": "<https://api.example.com/3>; rel=next"]), .json("[3]"))
            let router = Router<URLEndPoint>(session: session, interceptors: [interceptor])
            for try await _ in router.pages(
                for: URLEndPoint(.get, URL(text: "https://api.example.com/1")), as: [Int].self)
            {}
            return session.requests.map(hasSecret)
        }
        for common in [
            CommonHeaders(["X-Token": "SECRET"]), CommonHeaders { ["X-Token": "SECRET"] },
            CommonParameters(["token": "SECRET"]), CommonParameters { ["token": "SECRET"] },
        ] as [any Interceptor] {
            #expect(try await secrets(common) == [true, false, false], "\(common)")
        }
        let origins: CredentialOrigins = ["api.example.com", "evil.example.net"]
        #expect(try await secrets(CommonHeaders(["X-Token": "SECRET"], origins: origins)) == [true, true, true])
        #expect(try await secrets(CommonParameters(["token": "SECRET"], origins: origins)) == [true, true, true])
    }

    @Test("explain shows that a foreign URL gets no credentials")
    func explained() async {
        let manager = NetworkManager(servers: servers, session: makeSession(), interceptors: [BearerAuth("SECRET")])
        let plan = await manager.explain(URLEndPoint(.get, foreign))
        #expect(plan.request?.url == foreign)
        #expect(plan.request?.headers.contains("Authorization") == false)
    }

    @Test("data, download and upload take options for the call")
    func options() async throws {
        enum Mark: RequestOption { static let defaultValue = 0 }
        try await withFolder { folder in
            let session = StubSession { _ in .text("") }
            let manager = NetworkManager(
                servers: servers, session: session, options: RequestOptions { $0[Mark.self] = 1 })
            let options = RequestOptions {
                $0[Mark.self] += 1
                $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData
            }
            let router = manager.router(for: URLEndPoint.self)
            let endPoint = URLEndPoint(.post, foreign, task: .requestBody(DataBody(Data("a".utf8))))
            _ = try await manager.data(from: foreign, options: options)
            _ = try await manager.download(from: foreign, to: folder.appendingPathComponent("a"), options: options)
            _ = try await router.download(
                URLEndPoint(.get, foreign), to: folder.appendingPathComponent("b"), options: options)
            _ = try await router.upload(endPoint, options: options)
            _ = try await router.upload(endPoint, options: options, progress: TransferProgress())
            _ = try await router.upload(endPoint, as: String.self, options: options)
            #expect(session.requests.map { $0[Mark.self] } == Array(repeating: 2, count: 6))
            // The builder, not the session, adds this field for the policy.
            #expect(session.requests.map { $0.headers["Cache-Control"] } == Array(repeating: "no-cache", count: 6))
        }
    }

    private struct Own: TypedEndPoint {
        typealias Response = String
        var path: String { "challenge" }
    }

    private enum Elsewhere: EndPointType {
        case challenge
        var baseURL: String { "https://elsewhere.example.org" }
        var path: String { "challenge" }
    }
}
