import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@testable import SwitchboardResilience

@Suite(.timeLimit(.minutes(10)))
struct RateLimiterTests {
    private let clock = TestClock()
    private let url = URL(text: "https://h")

    private func call(
        _ router: Router<URLEndPoint>, _ path: Int, _ options: RequestOptions = RequestOptions()
    ) -> Task<String, any Error> {
        Task {
            let endPoint = URLEndPoint(.get, url.appendingPathComponent("\(path)"), options: options)
            return try await router.request(endPoint, as: String.self)
        }
    }

    /// Starts calls that wait, in a known order.
    private func enqueue(
        _ router: Router<URLEndPoint>, _ paths: Range<Int>, at limiter: RateLimiter
    ) async throws -> [Task<String, any Error>] {
        var calls: [Task<String, any Error>] = []
        for path in paths {
            let (monitor, before) = (Events(), limiter.waiting)
            calls.append(call(router, path, RequestOptions { $0.monitors = [monitor] }))
            try await monitor.wait(for: "waits for the rate limit")
            #expect(await comesTrue { limiter.waiting > before })
        }
        return calls
    }

    @Test("waits for some time at the highest rate")
    func highestRate() async throws {
        let limiter = RateLimiter(.max, burst: 1, clock: clock)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("done") }, interceptors: [limiter])
        #expect(try await call(router, 0).value == "done")
        let second = call(router, 1)
        let wait = try await clock.nextSleep()
        clock.advance(by: max(wait, .nanoseconds(1)))
        #expect(try await second.value == "done")
        #expect(clock.sleeps == [wait])
        #expect(wait > .zero)
    }

    @Test("allows a burst, then an even rate, first come first served", .requirement("S2.18"))
    func bucket() async throws {
        let limiter = RateLimiter(4, burst: 2, clock: clock)
        let begun = Deliveries<String>()
        let session = StubSession { request in
            begun.add(request.url?.path ?? "")
            return .text("done")
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter])
        for path in 0..<2 { #expect(try await call(router, path).value == "done") }
        let calls = try await enqueue(router, 2..<6, at: limiter)
        for (index, call) in calls.enumerated() {
            #expect(try await clock.nextSleep() == .milliseconds(250))
            clock.advance(by: .milliseconds(249))
            #expect(begun.all.count == 2 + index)
            clock.advance(by: .milliseconds(1))
            #expect(try await call.value == "done")
        }
        #expect(begun.all == (0..<6).map { "/\($0)" })
        // A long pause refills the bucket to its size and no more.
        clock.advance(by: .seconds(3_600))
        for path in 6..<8 { #expect(try await call(router, path).value == "done") }
        let last = try await enqueue(router, 8..<9, at: limiter)
        clock.advance(by: try await clock.nextSleep())
        #expect(try await last[0].value == "done")
        #expect(clock.sleeps == Array(repeating: .milliseconds(250), count: 5))
    }

    @Test("a canceled waiter leaves at once and takes no token", .requirement("S2.16", "S2.18"))
    func cancelled() async throws {
        let limiter = RateLimiter(1, per: .seconds(10), clock: clock)
        let session = StubSession { _ in .text("done") }
        let router = Router<URLEndPoint>(session: session, interceptors: [limiter])
        let other = Router<URLEndPoint>(session: session, interceptors: [limiter])
        #expect(try await call(router, 0).value == "done")
        let calls =
            try await enqueue(router, 1..<3, at: limiter) + enqueue(other, 3..<4, at: limiter)
            + enqueue(router, 4..<5, at: limiter)
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await calls[2].value }
        #expect(limiter.waiting == 2)
        #expect(try await clock.nextSleep() == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(try await calls[1].value == "done")
        #expect(try await clock.nextSleep() == .seconds(10))
        // The last waiter leaves, and no sleep remains.
        calls[3].cancel()
        await #expect(throws: CancellationError.self) { try await calls[3].value }
        #expect(await comesTrue { clock.sleeperCount == 0 })
        let again = try await enqueue(router, 5..<6, at: limiter)
        #expect(try await clock.nextSleep() == .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(try await again[0].value == "done")
        #expect(session.requests.map(\.url?.path) == ["/0", "/2", "/5"])
    }

    @Test("a request may bypass it; invalid numbers become the least valid ones")
    func bypass() async throws {
        let limiter = RateLimiter(1, per: .seconds(60), clock: clock)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("done") }, interceptors: [limiter])
        for path in 0..<3 {
            #expect(try await call(router, path, RequestOptions { $0.bypassesLimits = true }).value == "done")
        }
        #expect(try await call(router, 3).value == "done")
        let odd = RateLimiter(-1, per: .seconds(-1), burst: 0)
        #expect(odd.count == 1 && odd.burst == 1 && odd.period == .nanoseconds(1))
    }

    /// A clock whose sleeps are canceled by code that reads the limiter.
    private final class CuriousClock: Clock {
        typealias Instant = ContinuousClock.Instant
        let limiter = Protected<RateLimiter?>(nil)
        let (asleep, read) = (Gate(), Gate())

        var now: Instant { .now }
        var minimumResolution: Duration { .zero }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try await withTaskCancellationHandler {
                asleep.open()
                try await ContinuousClock().sleep(until: deadline)
            } onCancel: {
                if limiter.value?.waiting == 0 { read.open() }
            }
        }
    }

    @Test("a clock may use the limiter while its sleep is canceled")
    func curiousClock() async throws {
        let clock = CuriousClock()
        let limiter = RateLimiter(1, per: .seconds(1_000), clock: clock)
        _ = clock.limiter.swap(limiter)
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("done") }, interceptors: [limiter])
        #expect(try await call(router, 0).value == "done")
        let waiting = try await enqueue(router, 1..<2, at: limiter)
        try await clock.asleep.wait()
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        try await clock.read.wait()
        _ = clock.limiter.swap(nil)
    }
}
