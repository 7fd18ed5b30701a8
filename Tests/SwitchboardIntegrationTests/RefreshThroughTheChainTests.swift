import Foundation
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import Switchboard
@testable import SwitchboardAuth
@testable import SwitchboardResilience

/// Refreshes through the chain whose requests wait for them.
@Suite(.timeLimit(.minutes(10)))
struct RefreshThroughTheChainTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("a refresh through the same limited manager does not deadlock", .requirement("S2.21"))
    func limited() async throws {
        let made = Deliveries<NetworkManager>()
        let server = KeyServer(2)
        let session = StubSession { request in
            request.url?.path == "/login" ? .text("2") : try await server.answer(request.headers)
        }
        let authenticator = KeyAuthenticator(stored: ["production": Key(number: 1)]) { _, _ in
            let manager = try await made.first()
            let text = try await manager.response(for: URLEndPoint(.get, URL(text: "https://api.example.com/login")))
                .text
            return Key(number: Int(text) ?? 0)
        }
        let limiter = ConcurrencyLimiter(2)
        let login = AuthenticationInterceptor(authenticator)
        let manager = NetworkManager(session: session, interceptors: [limiter, login])
        made.add(manager)
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<20 { group.addTask { try await manager.response(for: URLEndPoint(.get, url)).text } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "ok", count: 20))
        #expect(authenticator.refreshes.all == [1])
    }

    @Test("a refresh through a deduplicator does not wait for itself", .requirement("S2.21"))
    func deduplicated() async throws {
        let (made, gate, waiting) = (Deliveries<NetworkManager>(), Gate(), Events())
        let server = KeyServer(2)
        let login = URLEndPoint(.get, URL(text: "https://api.example.com/login"))
        let session = StubSession { request in
            request.url?.path == "/login" ? .text("2") : try await server.answer(request.headers)
        }
        let authenticator = KeyAuthenticator(stored: ["production": Key(number: 1)]) { _, _ in
            let manager = try await made.first()
            try await gate.wait()
            return Key(number: Int(try await manager.response(for: login).text) ?? 0)
        }
        let manager = NetworkManager(
            session: session, interceptors: [Deduplicator(), AuthenticationInterceptor(authenticator)],
            options: RequestOptions { $0.monitors = [waiting] })
        made.add(manager)
        let first = Task { try await manager.response(for: URLEndPoint(.get, url)).text }
        _ = try await authenticator.refreshes.first()
        let second = Task { try await manager.response(for: login).text }
        try await waiting.wait(for: "a new credential", count: 2)
        gate.open()
        #expect(try await first.value == "ok")
        #expect(try await second.value == "2")
    }

    @Test("a rejected streamed response holds no slot of the next attempt")
    func streamedRejection() async throws {
        let (limiter, inFlight) = (ConcurrencyLimiter(), Deliveries<Int>())
        let before = AdHocInterceptor { request, next in
            inFlight.add(limiter.inFlight)
            return try await next(request)
        }
        let session = AdHocSession { request in
            var response = NetworkResponse(statusCode: request.headers["Authorization"] == "Key 2" ? 200 : 401)
            response.bytes = ResponseBytes { nil }
            return response
        }
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [AuthenticationInterceptor(KeyAuthenticator(), clock: TestClock()), before, limiter])
        #expect(try await router.rawResponse(for: URLEndPoint(.get, url)).statusCode == 200)
        #expect(inFlight.all == [0, 0])
    }

    @Test("a 401 after a redirect from POST to GET sends a shared POST once")
    func sharedPost() async throws {
        let (joined, gate) = (Events(), Gate())
        let session = StubSession { request in
            if request.method == .post {
                try await gate.wait()
                return .redirect(to: "/orders/1", statusCode: 303)
            }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [AuthenticationInterceptor(KeyAuthenticator(), clock: TestClock()), Deduplicator()])
        let options = RequestOptions {
            $0.deduplication = .id("order")
            $0.monitors = [joined]
        }
        let endPoint = URLEndPoint(
            .post, URL(text: "https://api.example.com/orders"), task: .requestBody(DataBody(Data("1".utf8))),
            headers: ["Content-Language": "en"], options: options)
        let calls = (0..<2).map { _ in Task { try await router.response(for: endPoint).text } }
        try await joined.wait(for: "cache: shared with ")
        gate.open()
        for call in calls { #expect(try await call.value == "ok") }
        #expect(session.requests.filter { $0.method == .post }.count == 1)
        #expect(session.requests.filter { $0.headers.contains("Content-Language") }.count == 1)
    }

    @Test("a provider's request through its router does not wait for itself")
    func providerThroughItself() async throws {
        let holder = Deliveries<Router<URLEndPoint>>()
        let tokenURL = URL(text: "https://api.example.com/token")
        let auth = BearerAuth {
            // Turns a hang into a failure.
            let options = RequestOptions { $0.timeouts.total = .seconds(300) }
            return try await holder.first().request(URLEndPoint(.get, tokenURL), as: String.self, options: options)
        }
        let session = StubSession { request in .text(request.path == "/token" ? "t1" : "ok") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [ConcurrencyLimiter(1), auth],
            options: RequestOptions { $0.authentication = .required })
        holder.add(router)
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
        #expect(session.requests.map { $0.headers["Authorization"] } == [nil, "Bearer t1"])
    }

    @Test("a credential that cannot be saved is used, and monitors are notified")
    func unsaved() async throws {
        struct Full: TokenStore {
            func load(in partition: String?) -> OAuthToken? { OAuthToken(accessToken: "old", refreshToken: "r") }
            func save(_ token: OAuthToken, in partition: String?) throws {
                throw NetworkError(.cannotWriteFile, reason: "the device is full")
            }
            func remove(in partition: String?) {}
            func removeAll() {}
        }
        let session = StubSession { request in
            switch request.url?.path {
            case "/token": .json(#"{"access_token":"new","token_type":"Bearer"}"#)
            default: request.headers["Authorization"] == "Bearer new" ? .text("ok") : .status(401)
            }
        }
        let notes = Deliveries<String>()
        let client = OAuth2Client(id: "app", tokenURL: URL(text: "https://api.example.com/token"), session: session)
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [AuthenticationInterceptor(OAuth2Authenticator(client, store: Full()))],
            options: RequestOptions { $0.monitors = [NetworkLogger(output: { notes.add($0) })] })
        #expect(try await router.request(URLEndPoint(.get, url), as: String.self) == "ok")
        #expect(notes.all.contains { $0.contains("could not be saved") && $0.contains("the device is full") })
    }

    @Test(
        "a probe of a half-open circuit refreshes its credential first",
        arguments: [(200, 200), (503, 503), (200, 503)])
    func probe(status: Int, statusAfterRefresh: Int) async throws {
        let (made, statuses, clock) = (Deliveries<Router<URLEndPoint>>(), Deliveries<Int>(), TestClock())
        statuses.add(503)
        let session = StubSession { request in
            let status = statuses.all.last ?? 200
            guard status == 200 else { return .status(status) }
            if request.path == "/login" {
                statuses.add(statusAfterRefresh)
                return .text("2")
            }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let authenticator = KeyAuthenticator { _, _ in
            let login = URLEndPoint(.get, URL(text: "https://api.example.com/login"))
            return Key(number: Int(try await made.first().response(for: login).text) ?? 0)
        }
        let date = Protected(Date(timeIntervalSince1970: 0))
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(20), clock: clock)
        let login = AuthenticationInterceptor(authenticator, leeway: .zero, clock: clock, now: { date.value })
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker, login])
        made.add(router)
        try await login.signIn(Key(number: 1, end: Date(timeIntervalSince1970: 10)), in: String?.none)
        _ = try? await router.response(for: URLEndPoint(.get, url))
        clock.advance(by: .seconds(20))
        date.withLock { $0 = Date(timeIntervalSince1970: 20) }
        statuses.add(status)
        let text = try? await router.response(for: URLEndPoint(.get, url)).text
        let isClosed = statusAfterRefresh == 200
        #expect(text == (isClosed ? "ok" : nil))
        #expect(breaker.state(of: "api.example.com:443") == (isClosed ? .closed : .open(for: .seconds(20))))
        #expect(session.requests.map(\.path) == (status == 200 ? ["/a", "/login", "/a"] : ["/a", "/login"]))
    }

    @Test("a refresh that fails while this machine is offline opens no circuit", arguments: [false, true])
    func offline(isOffline: Bool) async throws {
        let authenticator = KeyAuthenticator(stored: [:]) { _, _ in
            var error = NetworkError(.connectionLost)
            error.isOffline = isOffline
            throw error
        }
        let clock = TestClock()
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(20), clock: clock)
        let login = AuthenticationInterceptor(authenticator, clock: clock)
        let router = Router<URLEndPoint>(session: StubSession(), interceptors: [breaker, login])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .connectionLost)
        #expect(breaker.state(of: "api.example.com:443") == (isOffline ? .closed : .open(for: .seconds(20))))
    }

    @Test("a refresh does not wait behind the requests of a rate limit")
    func rateLimited() async throws {
        let (made, clock) = (Deliveries<Router<URLEndPoint>>(), TestClock())
        let session = StubSession { request in
            if request.path == "/login" { return .text("2") }
            return request.headers["Authorization"] == "Key 2" ? .text("ok") : .status(401)
        }
        let authenticator = KeyAuthenticator { _, _ in
            let login = URLEndPoint(.get, URL(text: "https://api.example.com/login"))
            return Key(number: Int(try await made.first().response(for: login).text) ?? 0)
        }
        let limiter = RateLimiter(1, per: .seconds(100), clock: clock)
        let login = AuthenticationInterceptor(authenticator, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter, login])
        made.add(router)
        let call = Task { try await router.response(for: URLEndPoint(.get, url)).text }
        #expect(await comesTrue { session.requests.count >= 2 || limiter.waiting > 0 })
        #expect(limiter.waiting == 0)
        // Only ends the test if the refresh waits.
        if limiter.waiting > 0 { clock.advance(by: .seconds(60)) }
        #expect(try await call.value == "ok")
        #expect(session.requests.map(\.path) == ["/a", "/login", "/a"])
    }

    @Test("monitors learn that a lost credential could not be removed")
    func notRemoved() async throws {
        struct Locked: TokenStore {
            func load(in partition: String?) -> OAuthToken? { OAuthToken(accessToken: "old", refreshToken: "r") }
            func save(_ token: OAuthToken, in partition: String?) {}
            func remove(in partition: String?) throws {
                throw NetworkError(.cannotWriteFile, reason: "another process holds the lock")
            }
            func removeAll() {}
        }
        let session = StubSession { request in
            request.path == "/token" ? .json(#"{"error":"invalid_grant"}"#, statusCode: 400) : .status(401)
        }
        let notes = Deliveries<String>()
        let client = OAuth2Client(id: "app", tokenURL: URL(text: "https://api.example.com/token"), session: session)
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [AuthenticationInterceptor(OAuth2Authenticator(client, store: Locked()))],
            options: RequestOptions { $0.monitors = [NetworkLogger(output: { notes.add($0) })] })
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.oauthError?.code == .invalidGrant)
        #expect(notes.all.contains { $0.contains("could not be removed") && $0.contains("another process holds") })
    }
}
