import Foundation
import Switchboard
import SwitchboardTesting
import Testing

/// Everything in this package that waits uses a clock, and a test observes each wait.
@Suite(.timeLimit(.minutes(3)))
struct TestClockUseTests {
    private let clock = TestClock()
    private let endPoint: URLEndPoint

    init() throws {
        endPoint = URLEndPoint(.get, try #require(URL(string: "https://h.example/p")))
    }

    @Test func theBackoffOfRetriesDoublesAndIsWaitedFor() async throws {
        let session = StubSession { _ in .status(503) }
        let policy = RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(2), jitter: .none, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let call = Task { try await router.response(for: endPoint) }
        for (attempt, seconds) in [2, 4, 8].enumerated() {
            let wait = try await clock.nextSleep()
            #expect(wait == .seconds(seconds))
            #expect(session.requests.count == attempt + 1)
            clock.advance(by: wait)
        }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.status == 503)
        #expect(session.requests.count == 4)
    }

    @Test func retryAfterInSecondsIsWaitedForToTheSecond() async throws {
        let session = StubSession(.status(429, headers: ["Retry-After": "17"]), .text("done"))
        let router = Router<URLEndPoint>(session: session, interceptors: [RetryPolicy(clock: clock)])
        let call = Task { try await router.response(for: endPoint) }
        #expect(try await clock.nextSleep() == .seconds(17))
        clock.advance(by: .milliseconds(16_999))
        #expect(session.requests.count == 1)
        clock.advance(by: .milliseconds(1))
        #expect(try await call.value.text == "done")
    }

    /// Checks the wait up to the time that this test takes, because the date is of the real calendar.
    @Test func retryAfterAsADateIsWaitedFor() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let date = formatter.string(from: Date(timeIntervalSinceNow: 1_000))
        let session = StubSession(.status(503, headers: ["Retry-After": date]), .text("done"))
        let policy = RetryPolicy(maximumDelay: .seconds(2_000), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let call = Task { try await router.response(for: endPoint) }
        let wait = try await clock.nextSleep()
        #expect(wait > .seconds(930) && wait <= .seconds(1_000))
        clock.advance(by: wait)
        #expect(try await call.value.text == "done")
    }

    @Test func theTotalOfACallEndsIt() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .stall }, clock: clock)
        let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, total: .seconds(90)) }
        let endPoint = URLEndPoint(.get, endPoint.baseURL, options: options)
        let call = Task { try await router.response(for: endPoint) }
        #expect(try await clock.nextSleep() == .seconds(90))
        clock.advance(by: .seconds(90))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    @Test func theDelayOfAStubIsWaitedFor() async throws {
        let session = StubSession(clock: clock, .text("late").delayed(by: .seconds(5)))
        let call = Task { try await session.send(NetworkRequest(.get, endPoint.baseURL)) }
        let wait = try await clock.nextSleep()
        #expect(wait == .seconds(5))
        clock.advance(by: wait)
        #expect(try await call.value.text == "late")
    }

    @Test func aStubThatStallsEndsWithTheTimeout() async throws {
        let session = StubSession(clock: clock, .stall)
        var request = NetworkRequest(.get, endPoint.baseURL)
        request.timeouts.attempt = .seconds(4)
        let call = Task { [request] in try await session.send(request) }
        #expect(try await clock.nextSleep() == .seconds(4))
        clock.advance(by: .seconds(4))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }
}
