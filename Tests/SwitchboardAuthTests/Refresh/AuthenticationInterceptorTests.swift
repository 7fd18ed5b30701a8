@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct AuthenticationInterceptorTests {
    private let url = URL(text: "https://api.example.com/a")

    private func router(
        _ session: any NetworkSession, _ interceptors: any Interceptor..., monitors: [any EventMonitor] = []
    ) -> Router<URLEndPoint> {
        Router(session: session, interceptors: interceptors, monitors: monitors)
    }

    @Test("the saved credential is loaded once and used", arguments: [1, 20])
    func loaded(count: Int) async throws {
        let keys = KeyAuthenticator(stored: [nil: Key(number: 7)])
        let session = KeyServer(7).session
        let router = router(session, AuthenticationInterceptor(keys, clock: TestClock()))
        for _ in 0..<count { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(session.authorizations == Array(repeating: "Key 7", count: count))
        #expect(keys.refreshes.all.isEmpty)
    }

    @Test("a missing credential is fetched before the first request is sent", .requirement("S2.21"))
    func first() async throws {
        let keys = KeyAuthenticator(stored: [:])
        let session = KeyServer(1).session
        _ = try await router(session, AuthenticationInterceptor(keys, clock: TestClock())).response(
            for: URLEndPoint(.get, url))
        #expect(session.authorizations == ["Key 1"])
        #expect(keys.refreshes.all == [nil])
        #expect(keys.saved.all.map(\.number) == [1])
    }

    @Test("100 requests that meet a 401 share one refresh, each resent once", .requirement("S2.21"))
    func oneRefresh() async throws {
        let keys = KeyAuthenticator()
        let session = KeyServer(2, refusing: 100).session
        let router = router(session, AuthenticationInterceptor(keys, clock: TestClock()))
        let histories = try await withThrowingTaskGroup(of: [ExchangeRecord].self) { group in
            for _ in 0..<100 { group.addTask { try await router.response(for: URLEndPoint(.get, url)).history } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(keys.refreshes.all == [1])
        #expect(session.authorizations.filter { $0 == "Key 1" }.count == 100)
        #expect(session.authorizations.filter { $0 == "Key 2" }.count == 100)
        // Some requests receive the 401 when the new credential already exists.
        let expected: Set<String?> = ["refreshed", "a newer credential exists"]
        #expect(histories.allSatisfy { $0.count == 2 })
        #expect(Set(histories.map { $0[1].cause }).isSubset(of: expected))
        #expect(keys.saved.all == [KeyAuthenticator.Pair(partition: nil, number: 2)])
    }

    @Test("a request with an older credential is resent without another refresh", .requirement("S2.21"))
    func olderCredential() async throws {
        let (slowArrived, release) = (Deliveries<Bool>(), Deliveries<Bool>())
        let session = AdHocSession { request in
            let isOld = request.headers["Authorization"] == "Key 1"
            if isOld, request.url?.path == "/slow" {
                slowArrived.add(true)
                _ = try await release.first()
            }
            var response = NetworkResponse(statusCode: isOld ? 401 : 200)
            response.request = request
            return response
        }
        let keys = KeyAuthenticator()
        let router = router(session, AuthenticationInterceptor(keys, clock: TestClock()))
        let slow = Task { try await router.response(for: URLEndPoint(.get, URL(text: "https://api.example.com/slow"))) }
        _ = try await slowArrived.first()
        _ = try await router.response(for: URLEndPoint(.get, url))
        release.add(true)
        let response = try await slow.value
        #expect(response.history.map(\.outcome) == [.status(401), .status(200)])
        #expect(keys.refreshes.all == [1])
    }

    @Test("a second 401 is the result; the next request refreshes again", .requirement("S2.21"))
    func oneRetry() async throws {
        let keys = KeyAuthenticator()
        let session = StubSession { _ in .status(401, body: Data("no".utf8)) }
        let router = router(session, AuthenticationInterceptor(keys, clock: TestClock()))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .unauthorized)
        #expect(error?.body == Data("no".utf8))
        #expect(session.authorizations == ["Key 1", "Key 2"])
        _ = try? await router.response(for: URLEndPoint(.get, url))
        #expect(session.authorizations == ["Key 1", "Key 2", "Key 2", "Key 3"])
    }

    @Test("a body is resent byte for byte; a one-shot body is not resent", .requirement("S2.21"))
    func bodies() async throws {
        let server = KeyServer(2)
        let session = server.session
        let keys = KeyAuthenticator()
        let router = router(session, AuthenticationInterceptor(keys, clock: TestClock()))
        _ = try await router.response(for: URLEndPoint(.post, url, task: .requestBody(DataBody(Data("same".utf8)))))
        #expect(session.recordedRequests.map(\.text) == ["same", "same"])

        server.valid.add(3)
        let once = URLEndPoint(.post, url, task: .requestBody(OneShotBody()))
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: once) }
        #expect(error?.code == .unauthorized)
        #expect(session.requests.count == 3)
        // The next request has the new credential at once.
        _ = try await router.response(for: once)
        #expect(session.authorizations.last == "Key 3")
        #expect(keys.refreshes.all == [1, 2])
    }

    @Test("a credential is refreshed once, at its end minus the leeway", .requirement("S2.21"))
    func aheadOfTime() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1, end: date.now + 100)]) { old, _ in
            Key(number: (old?.number ?? 0) + 1, end: date.now + 100)
        }
        let session = StubSession { _ in .text("ok") }
        let interceptor = AuthenticationInterceptor(keys, leeway: .seconds(10), now: { date.now })
        let router = router(session, interceptor)
        func send() async throws { _ = try await router.response(for: URLEndPoint(.get, url)) }
        try await send()
        date.advance(by: 89)
        try await send()
        #expect(keys.refreshes.all.isEmpty)
        date.advance(by: 1)
        try await send()
        try await send()
        #expect(keys.refreshes.all == [1])
        #expect(session.authorizations == ["Key 1", "Key 1", "Key 2", "Key 2"])
    }

    @Test("an expired saved credential is refreshed before the first request")
    func savedButEnded() async throws {
        let date = TestDate()
        let keys = KeyAuthenticator(stored: [nil: Key(number: 4, end: date.now - 1)])
        let session = StubSession { _ in .text("ok") }
        _ = try await router(session, AuthenticationInterceptor(keys, clock: TestClock(), now: { date.now })).response(
            for: URLEndPoint(.get, url))
        #expect(session.authorizations == ["Key 5"])
        #expect(keys.refreshes.all == [4])
    }

    @Test("a credential within its leeway is not refreshed before each request", arguments: [5.0, 0, -60])
    func shortLived(seconds: TimeInterval) async throws {
        let date = TestDate()
        let keys = KeyAuthenticator(stored: [:]) { old, _ in
            Key(number: (old?.number ?? 0) + 1, end: date.now + seconds)
        }
        let session = StubSession { _ in .text("ok") }
        let router = router(session, AuthenticationInterceptor(keys, leeway: .seconds(30), now: { date.now }))
        for _ in 0..<20 { _ = try await router.response(for: URLEndPoint(.get, url)) }
        #expect(keys.refreshes.all == [nil])
        date.advance(by: max(0, seconds))
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(keys.refreshes.all.count == (seconds > 0 ? 2 : 1))
    }

    @Test("each partition has a separate credential", .requirement("S2.21"))
    func partitions() async throws {
        let keys = KeyAuthenticator(stored: [nil: Key(number: 1), "qa": Key(number: 10)]) { old, partition in
            Key(number: (old?.number ?? (partition == "live" ? 99 : 0)) + 1)
        }
        let session = StubSession { request in
            ["Key 2", "Key 11", "Key 100"].contains(request.headers["Authorization"]) ? .text("ok") : .status(401)
        }
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        for partition in [nil, "qa", "live", nil, "qa", "live"] {
            let router = Router<URLEndPoint>(
                session: session, interceptors: [interceptor],
                options: RequestOptions { $0.partition = partition })
            _ = try await router.response(for: URLEndPoint(.get, url))
        }
        #expect(
            session.authorizations == ["Key 1", "Key 2", "Key 10", "Key 11", "Key 100", "Key 2", "Key 11", "Key 100"])
        #expect(Set(keys.saved.all.map(\.partition)) == [nil, "qa", "live"])
    }

    @Test("a sign-in is used and saved; nothing is sent after a sign-out")
    func signInAndOut() async throws {
        let keys = KeyAuthenticator(stored: [:]) { _, _ in throw NetworkError(.cannotAuthenticate, reason: "sign in") }
        let session = StubSession { _ in .text("ok") }
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        let router = router(session, interceptor)
        func failure() async -> NetworkError? {
            await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        }
        #expect(await failure()?.code == .cannotAuthenticate)
        try await interceptor.signIn(Key(number: 5), in: nil)
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(try await interceptor.credential(in: nil) == Key(number: 5))
        try await interceptor.signOut(in: nil)
        #expect(try await interceptor.credential(in: nil) == nil)
        #expect(await failure()?.code == .cannotAuthenticate)
        #expect(session.authorizations == ["Key 5"])
        // The failed first refresh removes a credential that never existed: a nil, left out here.
        #expect(keys.saved.all.map(\.number).filter { $0 != nil } == [5])
        #expect(keys.saved.all.last?.number == .some(nil))
    }

    @Test("reports load and refresh events, and adapts with the held credential")
    func eventsAndPlan() async throws {
        let keys = KeyAuthenticator()
        let monitor = Events()
        let interceptor = AuthenticationInterceptor(keys, clock: TestClock())
        var request = NetworkRequest(.get, url)
        try await interceptor.adapt(&request)
        #expect(request.headers.isEmpty)
        let router = router(KeyServer(2).session, interceptor, monitors: [monitor])
        _ = try await router.response(for: URLEndPoint(.get, url))
        let events = monitor.all.compactMap { if case .authentication(let text) = $0.kind { text } else { nil } }
        #expect(events == ["load", "loaded", "refresh", "refreshed"])
        try await interceptor.adapt(&request)
        #expect(request.headers["Authorization"] == "Key 2")
        #expect("\(interceptor)" == "AuthenticationInterceptor<KeyAuthenticator>")
    }
}
