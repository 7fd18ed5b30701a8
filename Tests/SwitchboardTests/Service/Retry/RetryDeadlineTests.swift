import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RetryDeadlineTests {
    private let url = URL(text: "https://api.example.com/a")
    // Long, so that the time of the test does not matter.
    private let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, total: .seconds(5_000)) }

    @Test(
        "a wait beyond the total timeout does not begin; the response is final",
        .requirement("S2.19"),
        arguments: [("60000", 1), ("6000", 1), ("5000", 1), ("4000", 2)])
    func retryAfter(seconds: String, attempts: Int) async throws {
        let clock = TestClock(skips: true)
        let session = StubSession { _ in .status(503, headers: ["Retry-After": seconds]) }
        let monitor = Events()
        let policy = RetryPolicy(maximumDelay: .seconds(100_000), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let options = options.merging(RequestOptions { $0.monitors = [monitor] })
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        #expect(error?.statusCode == 503 && error?.attempts == attempts)
        #expect(clock.sleeps.count == attempts - 1)
        #expect(
            monitor.texts.contains("not retried: a wait of \(seconds).0 s would exceed the total timeout")
                || monitor.texts.contains(
                    "not retried: a wait of \(seconds) s would exceed the total timeout")
        )
    }

    @Test("earlier attempts and waits count toward the total timeout", .requirement("S2.19"))
    func elapsed() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(clock: clock) { _ in .status(503).delayed(by: .seconds(1_000)) }
        // Three attempts and two waits take 5,000 s, so a third wait would end at 6,000 s.
        let policy = RetryPolicy(
            maximumAttempts: 9, strategy: .constant(.seconds(1_000)), maximumDelay: .seconds(1_000), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        #expect(error?.statusCode == 503 && error?.attempts == 3)
    }

    @Test("time before the policy counts toward the total timeout", .requirement("S2.19"))
    func before() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession { _ in .status(503) }
        let slow = AdHocInterceptor { request, next in
            try await ContinuousClock().sleep(for: .milliseconds(30))
            return try await next(request)
        }
        let policy = RetryPolicy(
            strategy: .constant(.milliseconds(999_980)), maximumDelay: .seconds(1_000), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [slow, policy])
        let options = RequestOptions { $0.timeouts.total = .seconds(1_000) }
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url, options: options))
        }
        #expect(error?.statusCode == 503 && error?.attempts == 1)
        #expect(clock.sleeps.isEmpty)
    }
}
