@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import Switchboard

/// Sign-ins that an endpoint requires, accepts or refuses, apart from the app's key.
@Suite(.timeLimit(.minutes(10)))
struct SignInTests {
    private let key = APIKeyAuth("app", in: .header("X-Api-Key"))

    private enum FilmApi: EndPointType {
        case popular, favorites, login

        var baseURL: String { "https://api.example.com" }
        var path: String { "\(self)" }
        var options: RequestOptions {
            switch self {
            case .popular: RequestOptions { $0.authentication = .optional }
            case .favorites: RequestOptions { $0.authentication = .required }
            case .login: RequestOptions { $0.authentication = .anonymous }
            }
        }
    }

    @Test("a request without a credential is marked for a sign-in")
    func markWithoutCredential() async throws {
        let marks = Deliveries<Bool>()
        let last = AdHocInterceptor { request, next in
            marks.add(request.isSignInRecorded)
            return try await next(request)
        }
        let router = Router<URLEndPoint>(
            session: StubSession(.text("ok")),
            interceptors: [AuthenticationInterceptor(KeyAuthenticator(stored: [:])), last],
            options: RequestOptions { $0.authentication = .optional })
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h/")))
        #expect(marks.all == [true])
    }

    @Test("a sign-in during a canceled call is saved, also over the network")
    func canceledCall() async throws {
        struct RemoteStore: TokenStore {
            let session: StubSession

            func load(in partition: String?) -> OAuthToken? { nil }
            func save(_ token: OAuthToken, in partition: String?) async throws {
                _ = try await Router<URLEndPoint>(session: session).response(
                    for: URLEndPoint(.put, URL(text: "https://store.example.com/")))
            }
            func remove(in partition: String?) {}
            func removeAll() {}
        }
        let (store, holder) = (StubSession(.text("")), Deliveries<Router<URLEndPoint>>())
        let client = OAuth2Client(StubSession())
        let login = AuthenticationInterceptor(client, store: RemoteStore(session: store))
        let signingIn = AdHocInterceptor { request, next in
            try await holder.first().cancel()
            try await login.signIn(OAuthToken(accessToken: "a"), in: String?.none)
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: StubSession(.text("")), interceptors: [signingIn])
        holder.add(router)
        await #expect(throws: CancellationError.self) {
            try await router.response(for: URLEndPoint(.get, URL(text: "https://api.example.com/")))
        }
        #expect(store.requests.count == 1)
    }

    @Test("after concurrent sign-ins and sign-outs store and memory agree")
    func concurrentSignIns() async throws {
        for number in 0..<200 {
            let keys = KeyAuthenticator(stored: [:])
            let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
            await withTaskGroup { group in
                group.addTask { try? await interceptor.signIn(Key(number: number), in: nil) }
                group.addTask { try? await interceptor.signOut(in: nil) }
                group.addTask { try? await interceptor.signIn(Key(number: number + 1), in: nil) }
            }
            #expect(try await interceptor.credential(in: nil)?.number == keys.saved.all.last?.number)
        }
    }

    @Test("a sign-out while a credential is saved is saved after it", arguments: [true, false])
    func signOutWhileSaving(isReset: Bool) async throws {
        /// Signs out as soon as a credential is saved.
        struct SavesOnce: Authenticator {
            let keys = KeyAuthenticator()
            let isReset: Bool
            let login = Deliveries<AuthenticationInterceptor<SavesOnce>>()

            func apply(_ credential: Key, to request: inout NetworkRequest) {}
            func refresh(_ credential: Key?, in partition: String?) -> Key { Key(number: 2) }
            func load(in partition: String?) async throws -> Key? { try await keys.load(in: partition) }
            func reset() async { await keys.reset() }

            func save(_ credential: Key?, in partition: String?) async throws {
                if credential != nil {
                    let login = try await login.first()
                    if isReset { await login.reset() } else { try await login.signOut(in: partition) }
                }
                try await keys.save(credential, in: partition)
            }
        }
        let authenticator = SavesOnce(isReset: isReset)
        let login = AuthenticationInterceptor(authenticator, clock: TestClock())
        authenticator.login.add(login)
        try await login.signIn(Key(number: 1), in: nil)
        // Waits for the removal, because calls run one at a time.
        try await login.signOut(in: nil)
        #expect(authenticator.keys.saved.all.map(\.number) == (isReset ? [1, nil] : [1, nil, nil]))
        #expect(authenticator.keys.resets.all.count == (isReset ? 1 : 0))
        #expect(try await login.credential(in: nil) == nil)
    }

    @Test("a request of one user is not sent again as the next user", arguments: [true, false])
    func nextUser(isSignedOut: Bool) async throws {
        let keys = KeyAuthenticator()
        let login = AuthenticationInterceptor(keys)
        let session = StubSession { request in
            guard request.headers["Authorization"] == "Key 1" else { return .text("ok") }
            if isSignedOut { try await login.signOut(in: String?.none) }
            try await login.signIn(Key(number: 7), in: String?.none)
            return .status(401)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [login])
        let response = try await router.rawResponse(for: URLEndPoint(.post, URL(text: "https://h/notes")))
        #expect(response.statusCode == (isSignedOut ? 401 : 200))
        #expect(session.authorizations == (isSignedOut ? ["Key 1"] : ["Key 1", "Key 7"]))
        let next = try await router.rawResponse(for: URLEndPoint(.get, URL(text: "https://h/notes")))
        #expect(next.statusCode == 200 && keys.refreshes.all.isEmpty)
    }

    @Test("browsing works with the app's key alone; favorites need a sign-in")
    func browsing() async throws {
        let session = StubSession { _ in .text("ok") }
        let client = OAuth2Client(session)
        let login = AuthenticationInterceptor(OAuth2Authenticator(client))
        let manager = NetworkManager(session: session, interceptors: [key, login])
        let films = manager.router(for: FilmApi.self)
        #expect(try await films.request(.popular, as: String.self) == "ok")
        #expect(try await films.request(.login, as: String.self) == "ok")
        let error = await #expect(throws: NetworkError.self) { try await films.response(for: .favorites) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.description.contains("not signed in") == true)
        #expect(session.authorizations == [nil, nil])

        try await login.signIn(OAuthToken(accessToken: "anna"), in: manager.environment)
        for endPoint in [FilmApi.popular, .favorites, .login] { _ = try await films.response(for: endPoint) }
        #expect(session.authorizations.suffix(3) == ["Bearer anna", "Bearer anna", nil])

        try await login.signOut(in: manager.environment)
        _ = try await films.response(for: .popular)
        #expect(session.authorizations.last == .some(nil))
        #expect(session.requests.allSatisfy { $0.headers["X-Api-Key"] == "app" })
    }

    @Test("an optional sign-in loads and uses the saved credential")
    func saved() async throws {
        let session = StubSession { _ in .text("ok") }
        let authenticator = KeyAuthenticator(stored: [nil: Key(number: 7)])
        let router = Router<FilmApi>(session: session, interceptors: [AuthenticationInterceptor(authenticator)])
        for _ in 0..<3 { _ = try await router.response(for: .popular) }
        #expect(session.authorizations == ["Key 7", "Key 7", "Key 7"])
        #expect(authenticator.refreshes.all.isEmpty)
    }

    @Test("a required sign-in refreshes after an optional one found none saved")
    func joining() async throws {
        let looking = Deliveries<Bool>()
        let gate = Deliveries<Bool>()
        let session = StubSession { _ in .text("ok") }
        let authenticator = SlowLoad(looking, gate)
        let router = Router<FilmApi>(session: session, interceptors: [AuthenticationInterceptor(authenticator)])
        let browsing = Task { try await router.response(for: .popular) }
        _ = try await looking.first()
        let waiting = WaitingCounter()
        let favorites = Task {
            try await router.response(for: .favorites, options: RequestOptions { $0.monitors = [waiting] })
        }
        _ = try await waiting.values.first()
        gate.open()
        _ = try await (browsing.value, favorites.value)
        #expect(Set(session.authorizations) == [nil, "Key 1"])
        _ = try await router.response(for: .popular)
        #expect(session.authorizations.last == "Key 1")
    }

    @Test("after the server ends a sign-in, browsing works and favorites fail")
    func ended() async throws {
        let session = StubSession { request in
            request.headers.contains("Authorization") ? .status(401) : .text("ok")
        }
        let authenticator = KeyAuthenticator(stored: [nil: Key(number: 1)]) { _, _ in
            throw NetworkError(.cannotAuthenticate, reason: "invalid_grant")
        }
        let router = Router<FilmApi>(session: session, interceptors: [AuthenticationInterceptor(authenticator)])
        #expect(try await router.request(.popular, as: String.self) == "ok")
        #expect(session.authorizations == ["Key 1", nil])
        #expect(try await router.request(.popular, as: String.self) == "ok")
        #expect(authenticator.refreshes.all == [1])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .favorites) }
        #expect(error?.code == .cannotAuthenticate)
    }

    @Test("a temporarily failed refresh fails a call with optional sign-in too")
    func passing() async throws {
        let session = StubSession { _ in .status(401) }
        let authenticator = KeyAuthenticator(stored: [nil: Key(number: 1)]) { _, _ in
            throw NetworkError(.connectionLost)
        }
        let router = Router<FilmApi>(session: session, interceptors: [AuthenticationInterceptor(authenticator)])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .popular) }
        #expect(error?.code == .connectionLost)
        #expect(session.authorizations == ["Key 1"])
    }

    @Test("an optional sign-in whose newer one ended is sent without credential")
    func newerEnded() async throws {
        let date = Deliveries<Date>()
        date.add(Date(timeIntervalSince1970: 0))
        let authenticator = KeyAuthenticator(stored: [:]) { _, _ in throw NetworkError(.cannotAuthenticate) }
        let login = AuthenticationInterceptor(authenticator, leeway: .zero, now: { date.all.last ?? Date() })
        let (begun, gate) = (Deliveries<Bool>(), Gate())
        let session = StubSession { request in
            guard request.headers.contains("Authorization") else { return .text("guest") }
            begun.add(true)
            try await gate.wait()
            return .status(401)
        }
        let router = Router<FilmApi>(session: session, interceptors: [login])
        try await login.signIn(Key(number: 1), in: String?.none)
        let call = Task { try await router.response(for: .popular) }
        _ = try await begun.first()
        try await login.signIn(Key(number: 2, end: Date(timeIntervalSince1970: 50)), in: String?.none)
        date.add(Date(timeIntervalSince1970: 100))
        gate.open()
        #expect(try await call.value.text == "guest")
        #expect(session.authorizations == ["Key 1", nil])
    }

    @Test("a 401 to an anonymous request is the result")
    func anonymous401() async throws {
        let session = StubSession { _ in .status(401) }
        let authenticator = KeyAuthenticator(stored: [:])
        let router = Router<FilmApi>(session: session, interceptors: [AuthenticationInterceptor(authenticator)])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: .popular) }
        #expect(error?.code == .unauthorized)
        #expect(session.requests.count == 1 && authenticator.refreshes.all.isEmpty)
    }

    @Test("bearer and basic follow the choice; keys and signatures always go out")
    func others() async throws {
        let none: [any Interceptor] = [BearerAuth { nil }, BasicAuth { nil }]
        for interceptor in none {
            let session = StubSession { _ in .text("ok") }
            let router = Router<FilmApi>(session: session, interceptors: [key, interceptor])
            _ = try await router.response(for: .popular)
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: .favorites) }
            #expect(error?.code == .cannotAuthenticate)
            #expect(session.requests.count == 1)
        }
        for interceptor in [BearerAuth("t"), BasicAuth(user: "u", password: "p")] as [any Interceptor] {
            let session = StubSession { _ in .text("ok") }
            let signer = RequestSigner { $0.headers["X-Signature"] = "s" }
            let router = Router<FilmApi>(session: session, interceptors: [key, interceptor, signer])
            for endPoint in [FilmApi.popular, .favorites, .login] { _ = try await router.response(for: endPoint) }
            #expect(session.requests.map { $0.headers.contains("Authorization") } == [true, true, false])
            #expect(
                session.requests.allSatisfy { $0.headers["X-Api-Key"] == "app" && $0.headers["X-Signature"] == "s" })
            let plan = await router.explain(.login)
            #expect(plan.request?.headers.contains("Authorization") == false)
        }
    }

    @Test("a required sign-in without an interceptor fails, and nothing is sent")
    func noLogin() async throws {
        let session = StubSession { _ in .text("ok") }
        let elsewhere = BearerAuth("t", origins: ["https://other.example"])
        for interceptors in [[], [key], [elsewhere], [key, RetryPolicy()]] as [[any Interceptor]] {
            let router = Router<FilmApi>(session: session, interceptors: interceptors)
            let error = await #expect(throws: NetworkError.self) { try await router.response(for: .favorites) }
            #expect(error?.code == .cannotAuthenticate && error?.url?.path == "/favorites")
            #expect(error?.description.contains("requires a sign-in, and no interceptor signs in") == true)
        }
        #expect(session.requests.isEmpty)
        // An app's custom sign-in counts, in any field.
        for field in ["Authorization", "X-Session-Token", "Cookie"] {
            let own = OwnSignIn(field: field)
            _ = try await Router<FilmApi>(session: session, interceptors: [own]).response(for: .favorites)
        }
        #expect(session.requests.count == 3)
    }

    @Test("a required sign-in does not apply after a redirect to another origin")
    func elsewhere() async throws {
        let session = StubSession { request in
            request.url?.host == "api.example.com" ? .redirect(to: "https://cdn.example/list") : .text("ok")
        }
        let router = Router<FilmApi>(session: session, interceptors: [BearerAuth("t")])
        #expect(try await router.request(.favorites, as: String.self) == "ok")
        #expect(session.authorizations == ["Bearer t", nil])
    }

    /// Waits for the gate, and then loads no credential.
    private struct SlowLoad: Authenticator {
        let looking: Deliveries<Bool>
        let gate: Deliveries<Bool>

        init(_ looking: Deliveries<Bool>, _ gate: Deliveries<Bool>) {
            self.looking = looking
            self.gate = gate
        }

        func apply(_ credential: Key, to request: inout NetworkRequest) {
            request.headers["Authorization"] = "Key \(credential.number)"
        }

        func refresh(_ credential: Key?, in partition: String?) -> Key { Key(number: (credential?.number ?? 0) + 1) }

        func load(in partition: String?) async throws -> Key? {
            looking.open()
            _ = try await gate.first()
            return nil
        }
    }

    private struct OwnSignIn: Interceptor, RequestAdapter {
        let field: String
        func adapt(_ request: inout NetworkRequest) { request.headers[field] = "anna" }
    }
}
