import Foundation
@testable import Switchboard
import SwitchboardResilience
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryBudgetTests {
    private let url = URL(text: "https://api.example.com/a")

    @Test("policies share a budget of a ratio of calls and a minimum per second")
    func shared() async throws {
        let clock = TestClock()
        let budget = RetryBudget(ratio: 0.5, minimumPerSecond: 2, clock: clock)
        let session = StubSession { _ in .status(503) }
        let policies = (0..<2).map { _ in RetryPolicy(strategy: .immediate).limited(by: budget) }
        let routers = policies.map { Router<URLEndPoint>(session: session, interceptors: [$0]) }
        func calls(_ count: Int) async -> Int {
            let before = session.requests.count
            for index in 0..<count { _ = try? await routers[index % 2].response(for: URLEndPoint(.get, url)) }
            return session.requests.count - before - count
        }
        // Two at first, and one for every two calls.
        #expect(await calls(20) == 12)
        #expect(budget.remaining == 0)
        clock.advance(by: .milliseconds(1_500))
        #expect(budget.remaining == 3)
        #expect(await calls(2) == 4)
    }

    @Test("without budget the last attempt is the result, and this is reported")
    func exhausted() async throws {
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 1, clock: TestClock())
        let session = StubSession { _ in .status(503, headers: [:], body: Data("busy".utf8)) }
        let monitor = Events()
        let policy = RetryPolicy(maximumAttempts: 5, strategy: .immediate).limited(by: budget)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let options = RequestOptions { $0.monitors = [monitor] }
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        #expect(error?.statusCode == 503 && error?.body == Data("busy".utf8) && error?.attempts == 2)
        #expect(monitor.texts.contains("not retried: the retry budget is used up"))
        // A request with a custom policy uses the same budget.
        let own = RequestOptions { $0.retry = RetryPolicy(strategy: .immediate) }
        _ = try? await router.response(for: URLEndPoint(.get, url, options: own))
        #expect(session.requests.count == 3)
    }

    @Test("fractions add up, savings stop at the capacity, nonsense is zero")
    func arithmetic() async throws {
        let clock = TestClock()
        func retries(_ budget: RetryBudget, of calls: Int) async -> Int {
            let session = StubSession { _ in .text("") }
            let policy = RetryPolicy().limited(by: budget)
            let router = Router<URLEndPoint>(session: session, interceptors: [policy])
            for _ in 0..<calls { _ = try? await router.response(for: URLEndPoint(.get, url)) }
            return budget.remaining
        }
        #expect(await retries(RetryBudget(ratio: 0.25, minimumPerSecond: 0, clock: clock), of: 8) == 2)
        #expect(await retries(RetryBudget(ratio: 3, minimumPerSecond: 0, capacity: 5, clock: clock), of: 9) == 5)
        #expect(await retries(RetryBudget(ratio: .nan, minimumPerSecond: -1, clock: clock), of: 9) == 0)
        let old = RetryBudget(ratio: 0, minimumPerSecond: 10, clock: clock)
        clock.advance(by: .seconds(1 << 30))
        #expect(old.remaining == 100)
        let huge = RetryBudget(minimumPerSecond: 1e300, capacity: 1e300, clock: clock)
        #expect(huge.remaining > 1 << 30)
        let session = StubSession { _ in .status(503) }
        let fifths = RetryBudget(ratio: 0.2, minimumPerSecond: 0, clock: clock)
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(strategy: .immediate).limited(by: fifths)])
        for _ in 0..<50 { _ = try? await router.response(for: URLEndPoint(.get, url)) }
        #expect(session.requests.count == 60)
    }

    @Test("a request after progress counts as a call, also after a retried one")
    func requestAfterProgress() async throws {
        struct Limit: RetryCounter {
            let calls = Deliveries<Int>()
            func countCall() { calls.add(1) }
            func takeRetry() -> Bool { true }
        }
        let limit = Limit()
        var policy = RetryPolicy()
        policy.budget = limit
        let chain = InterceptorChain([.call(policy)], StubSession { _ in .text("ok") })
        var request = NetworkRequest(.get, url)
        let call = Call([], isLong: true)
        request.call = call
        #expect(call.takeAttempt(within: 3))
        call.restartAttempts()
        _ = try await chain.send(request)
        #expect(limit.calls.all == [1])
    }

    @Test("a download that is retried counts as one call", arguments: [true, false])
    func download(isInChain: Bool) async throws {
        try await withFolder { folder in
            let budget = RetryBudget(ratio: 1, minimumPerSecond: 0, clock: TestClock())
            let policy = RetryPolicy(maximumAttempts: 10, strategy: .immediate).limited(by: budget)
            let session = StubSession { _ in .text("abcdef").truncated(after: 3) }
            let router = Router<URLEndPoint>(session: session, interceptors: isInChain ? [policy] : [])
            let options = RequestOptions { if !isInChain { $0.retry = policy } }
            _ = try? await router.download(
                URLEndPoint(.get, url), to: folder.appendingPathComponent("a"), options: options)
            #expect(session.requests.count == 2)
        }
    }
}
