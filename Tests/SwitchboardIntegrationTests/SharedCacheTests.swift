import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardCookies
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A cache with a cookie jar and deduplication.
@Suite(.timeLimit(.minutes(10)))
struct SharedCacheTests {
    private let url = URL(text: "https://h.example.com/me")
    private let stored = RequestOptions { $0.cacheLifetime = .unlimited }

    @Test("a revalidation behind a deduplicator has the total timeout of its callers")
    func totalOfRevalidation() async throws {
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = StubSession(
            .text("a", headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60"]), .stall)
        let router = Router<URLEndPoint>(
            session: session, interceptors: [Deduplicator()],
            exchangeInterceptors: [ResponseCache(now: { date.now })], clock: TestClock())
        _ = try await router.response(for: URLEndPoint(.get, url))
        date.advance(by: 5)
        let events = Events()
        let options = RequestOptions {
            $0.monitors = [events]
            // By the clock of the router, which stands still, and of the revalidations.
            $0.timeouts.total = .milliseconds(100)
        }
        let stale = try await router.response(for: URLEndPoint(.get, url, options: options))
        #expect(stale.text == "a" && stale.cacheOutcome == .stale(.whileRevalidating))
        func codes() -> [NetworkError.Code] {
            events.all.compactMap { if case .failed(let error) = $0.kind { error.code } else { nil } }
        }
        #expect(await comesTrue { !codes().isEmpty })
        #expect(codes() == [.timedOut])
    }

    @Test("cookies from a jar separate responses, also for concurrent requests", .requirement("S1.14"))
    func cookies() async throws {
        let jar = CookieJar()
        let session = AdHocSession { request in
            await Task.yield()
            let text = "for \(request.headers["Cookie"] ?? "nobody")"
            return NetworkResponse(
                statusCode: 200, headers: ["Vary": "Cookie", "Cache-Control": "max-age=86400"], body: Data(text.utf8),
                url: request.url)
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(), Deduplicator()],
            exchangeInterceptors: [CookieInterceptor(jar), ResponseCache()])
        let endPoint = URLEndPoint(.get, url)
        @Sendable func get() async throws -> String { try await router.response(for: endPoint).text }
        #expect(try await get() == "for nobody")
        jar.store(["session=anna; Path=/"], from: url)
        async let one = get()
        async let other = get()
        #expect(try await [one, other] == ["for session=anna", "for session=anna"])
        jar.remove()
        jar.store(["session=ben; Path=/"], from: url)
        #expect(try await get() == "for session=ben")
        jar.remove()
        #expect(try await get() == "for nobody")
    }

    @Test("a deduplicated GET that began before a change is not stored")
    func joined() async throws {
        let (begun, gate) = (Deliveries<String>(), Gate())
        let session = AdHocSession { request in
            let version = begun.all.contains("POST") ? "new" : "old"
            if begun.count(adding: request.method.rawValue) == 1 { try await gate.wait() }
            return NetworkResponse(statusCode: 200, body: Data(version.utf8), url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(), Deduplicator()])
        let endPoint = URLEndPoint(.get, url, options: stored)
        let first = Task { try await router.response(for: endPoint).text }
        _ = try await begun.first()
        _ = try await router.response(for: URLEndPoint(.post, url))
        let monitor = Events()
        let options = RequestOptions { $0.monitors = [monitor] }
        let second = Task { try await router.response(for: endPoint, options: options).text }
        try await monitor.wait(for: "cache: shared with ")
        gate.open()
        let texts = try await [first.value, second.value]
        #expect(texts == ["old", "old"])
        #expect(try await router.response(for: endPoint).text == "new")
    }

    @Test("a retry does not get the stored error that it shared with another call")
    func sharedError() async throws {
        let (begun, gate, monitor) = (Deliveries<Void>(), Gate(), Events())
        let last = AdHocInterceptor { request, next in
            begun.add(())
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession(.text("down", statusCode: 503, headers: ["Cache-Control": "max-age=60"]), .text("up"))
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [RetryPolicy(maximumAttempts: 2, strategy: .immediate), Deduplicator(), last],
            exchangeInterceptors: [ResponseCache()])
        let once = RequestOptions { $0.retry = .never }
        let leader = Task { try await router.rawResponse(for: URLEndPoint(.get, url), options: once) }
        _ = try await begun.first()
        let options = RequestOptions { $0.monitors = [monitor] }
        let follower = Task { try await router.response(for: URLEndPoint(.get, url), options: options) }
        try await monitor.wait(for: "cache: shared with ")
        gate.open()
        let (first, second) = try await (leader.value, follower.value)
        #expect(first.statusCode == 503 && second.text == "up" && session.requests.count == 2)
    }

    @Test("a response to another call says that it is not stored")
    func shared() async throws {
        let gate = Gate()
        let begun = Deliveries<Void>()
        let session = AdHocSession { request in
            begun.add(())
            try await gate.wait()
            return NetworkResponse(statusCode: 200, headers: ["ETag": "\"1\""], body: Data("x".utf8), url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(), Deduplicator()])
        let events = Events()
        let endPoint = URLEndPoint(.get, url, options: stored)
        let options = RequestOptions { $0.monitors = [events] }
        let first = Task { try await router.response(for: endPoint) }
        _ = try await begun.first()
        let second = Task { try await router.response(for: endPoint, options: options) }
        try await events.wait(for: "cache: shared with ")
        gate.open()
        let reasons = try await [first.value.notStoredReason, second.value.notStoredReason]
        #expect(reasons == [nil, "it is the response to another call"])
    }

    @Test("a shared answer does not remove what the call that sent the request stored")
    func keptByFollower() async throws {
        let (begun, arrived, gate, leaderEvents) = (Deliveries<Void>(), Deliveries<Void>(), Gate(), Events())
        let session = AdHocSession { request in
            begun.add(())
            try await gate.wait()
            return NetworkResponse(
                statusCode: 200, headers: ["Cache-Control": "max-age=60"], body: Data("x".utf8), url: request.url)
        }
        // The follower gets its answer when that of the leader is stored.
        let later = AdHocInterceptor { request, next in
            let number = arrived.count(adding: ())
            let response = try await next(request)
            if number == 2 { try await leaderEvents.wait(for: "cache: stored") }
            return response
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(), later, Deduplicator()])
        let followerEvents = Events()
        let (leading, following) = (
            RequestOptions { $0.monitors = [leaderEvents] }, RequestOptions { $0.monitors = [followerEvents] }
        )
        let first = Task { try await router.response(for: URLEndPoint(.get, url), options: leading) }
        _ = try await begun.first()
        let second = Task { try await router.response(for: URLEndPoint(.get, url), options: following) }
        try await followerEvents.wait(for: "cache: shared with ")
        gate.open()
        _ = try await (first.value, second.value)
        #expect(try await router.response(for: URLEndPoint(.get, url)).cacheOutcome == .hit)
    }

    @Test("a shared answer removes what it replaces if its own call was canceled")
    func canceledLeader() async throws {
        let (begun, gate, events) = (Deliveries<Void>(), Gate(), Events())
        let session = AdHocSession { request in
            let number = begun.count(adding: ())
            if number == 2 { try await gate.wait() }
            return NetworkResponse(
                statusCode: 200, headers: ["Cache-Control": "max-age=3600"], body: Data("\(number)".utf8),
                url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(), Deduplicator()])
        let endPoint = URLEndPoint(.get, url)
        _ = try await router.response(for: endPoint)
        let leader = Task { try await router.response(for: endPoint, options: .refreshing) }
        _ = try await begun.wait(for: 2)
        var options = RequestOptions.refreshing
        options.monitors = [events]
        let follower = Task { [options] in try await router.response(for: endPoint, options: options) }
        try await events.wait(for: "cache: shared with ")
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        gate.open()
        #expect(try await follower.value.text == "2")
        // The canceled call stored nothing, so the next one is sent.
        #expect(try await router.response(for: endPoint).text == "3")
    }

    @Test("a stored response to the probe of a circuit does not close it")
    func storedProbe() async throws {
        let clock = TestClock()
        let isDown = Deliveries<Bool>()
        let session = AdHocSession { request in
            guard isDown.all.isEmpty || request.url?.path == "/up" else {
                return NetworkResponse(statusCode: 503, url: request.url)
            }
            return NetworkResponse(
                statusCode: 200, headers: ["Cache-Control": "max-age=600"], body: Data("ok".utf8), url: request.url)
        }
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(30), clock: clock)
        let router = Router<URLEndPoint>(
            session: session, interceptors: [breaker], exchangeInterceptors: [ResponseCache()])
        let name = "h.example.com:443"
        try await router.response(for: URLEndPoint(.get, url))
        isDown.add(true)
        let other = URLEndPoint(.get, URL(text: "https://h.example.com/down"))
        await #expect(throws: NetworkError.self) { try await router.response(for: other) }
        #expect(breaker.state(of: name) == .open(for: .seconds(30)))
        clock.advance(by: .seconds(30))
        #expect(try await router.response(for: URLEndPoint(.get, url)).cacheAge != nil)
        #expect(breaker.state(of: name) == .halfOpen)
        try await router.response(for: URLEndPoint(.get, URL(text: "https://h.example.com/up")))
        #expect(breaker.state(of: name) == .closed)
    }

    @Test("the exchange behind a stored response decides about the circuit", arguments: [304, 503])
    func revalidatedProbe(status: Int) async throws {
        let state = try await stateAfterProbe(answeredBy: .status(status))
        #expect(state == (status == 304 ? .closed : .open(for: .seconds(30))))
    }

    @Test("an offline failure behind a stored response does not open the circuit", arguments: [false, true])
    func offlineProbe(isOffline: Bool) async throws {
        var lost = NetworkError(.connectionLost)
        lost.isOffline = isOffline
        let state = try await stateAfterProbe(answeredBy: .failure(lost))
        #expect(state == (isOffline ? .halfOpen : .open(for: .seconds(30))))
    }

    /// Returns the state of a circuit after a probe that a stored response answers, with this answer behind it.
    private func stateAfterProbe(answeredBy answer: MockResponse) async throws -> CircuitBreaker.State {
        let clock = TestClock()
        let session = StubSession(
            .text("ok", headers: ["ETag": #""1""#, "Cache-Control": "max-age=0, stale-if-error=600"]), .status(503),
            answer)
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(30), clock: clock)
        let router = Router<URLEndPoint>(
            session: session, interceptors: [breaker], exchangeInterceptors: [ResponseCache()])
        try await router.response(for: URLEndPoint(.get, url))
        let other = URLEndPoint(.get, URL(text: "https://h.example.com/down"))
        await #expect(throws: NetworkError.self) { try await router.response(for: other) }
        clock.advance(by: .seconds(30))
        #expect(try await router.response(for: URLEndPoint(.get, url)).text == "ok")
        return breaker.state(of: "h.example.com:443")
    }
}
