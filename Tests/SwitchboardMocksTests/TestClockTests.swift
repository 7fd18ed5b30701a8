import Dispatch
import Foundation
import Switchboard
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct TestClockTests {
    private let clock = TestClock()

    @Test("the clock advances only when the test advances it")
    func standsStill() async throws {
        let task = Task { try await clock.sleep(for: .seconds(2)) }
        #expect(try await clock.nextSleep() == .seconds(2))
        #expect(clock.now == TestClock.Instant())
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await task.value
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .seconds(2))
    }

    @Test("the clock advances to a point and never goes back")
    func advanceToPoint() async throws {
        let task = Task { try await clock.sleep(until: .init(offset: .seconds(3))) }
        _ = try await clock.nextSleep()
        clock.advance(to: .init(offset: .seconds(5)))
        try await task.value
        clock.advance(to: .init(offset: .seconds(4)))
        clock.advance(by: .seconds(-1))
        #expect(clock.now == TestClock.Instant(offset: .seconds(5)))
    }

    @Test("1,000 tasks sleep, and wake or are canceled")
    func manySleepers() async throws {
        let tasks = (0..<1_000).map { index in
            Task { try await clock.sleep(for: .seconds(index % 2 == 0 ? 1 : 2 + index % 100)) }
        }
        #expect(await comesTrue { clock.sleeperCount == tasks.count })
        clock.advance(by: .seconds(1))
        for (index, task) in tasks.enumerated().reversed() where index % 2 == 1 { task.cancel() }
        for (index, task) in tasks.enumerated() {
            switch await task.result {
            case .success: #expect(index % 2 == 0)
            case .failure(let error): #expect(index % 2 == 1 && error is CancellationError)
            }
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("a sleep until a past point ends at once and is recorded")
    func pastDeadline() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(for: .zero)
        try await clock.sleep(until: .init(offset: .seconds(4)))
        #expect(clock.sleeps == [.zero, .seconds(-1)])
        #expect(clock.sleeperCount == 0)
    }

    /// Checks the order with a serial executor, which runs woken sleepers in the order of waking, and new ones in the
    /// order of their start.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test("1,000 sleepers wake by deadline, then in the order of their start")
    func wakeOrder() async throws {
        var generator = SystemRandomNumberGenerator()
        let deadlines = (0..<1_000).map { _ in Int.random(in: 1...100, using: &generator) }
        let woken = Deliveries<Int>()
        let executor = OneByOne()
        let tasks = deadlines.enumerated().map { index, seconds in
            Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                woken.add(index)
            }
        }
        var reported: [Duration] = []
        for _ in deadlines { reported.append(try await clock.nextSleep()) }
        #expect(reported == deadlines.map { .seconds($0) })
        #expect(clock.sleeperCount == 1_000)
        clock.advance(by: .seconds(50))
        #expect(clock.sleeperCount == deadlines.filter { $0 > 50 }.count)
        clock.advance(by: .seconds(50))
        for task in tasks { try await task.value }
        let expected = (1...100).flatMap { second in deadlines.indices.filter { deadlines[$0] == second } }
        #expect(woken.all == expected)
    }

    @Test("a second sleep begins at the new time")
    func secondSleep() async throws {
        let task = Task {
            for _ in 0..<2 { try await clock.sleep(for: .seconds(1)) }
        }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(10))
        #expect(try await clock.nextSleep() == .seconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await task.value
        #expect(clock.now.offset == .seconds(11))
    }

    // MARK: Cancellation

    @Test("a canceled task does not sleep")
    func canceledTask() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeps.isEmpty)
    }

    @Test("cancellation ends only the sleep of its task")
    func cancelOne() async throws {
        let other = Task { try await clock.sleep(for: .seconds(1)) }
        _ = try await clock.nextSleep()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await other.value
    }

    @Test("a cancellation at any moment ends the sleep once")
    func cancelRace() async throws {
        for round in 0..<2_000 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            if round.isMultiple(of: 2) { await Task.yield() }
            let mover = Task { clock.advance(by: .seconds(round.isMultiple(of: 3) ? 1 : 0)) }
            task.cancel()
            await mover.value
            switch await task.result {
            case .success: break
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        #expect(clock.sleeperCount == 0)
    }

    // MARK: Reported sleeps

    @Test("nextSleep without a sleeper times out")
    func nextSleepTimeout() async throws {
        try await TestClock(skips: true).sleep(for: .seconds(1))
        let error = await #expect(throws: NetworkError.self) {
            try await clock.nextSleep(within: .milliseconds(1))
        }
        #expect(error?.code == .timedOut)
        #expect(
            error?.reason?.hasPrefix("TestClock: no task slept on this clock after 0 reported sleeps within") == true)
    }

    @Test("waiting for a sleep can be canceled")
    func cancelNextSleep() async throws {
        let task = Task { try await clock.nextSleep(within: .seconds(300)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a skipping clock advances by itself")
    func skips() async throws {
        let clock = TestClock(skips: true)
        for seconds in [1, 60, 3_600] { try await clock.sleep(for: .seconds(seconds)) }
        #expect(clock.now.offset == .seconds(3_661))
        #expect(clock.sleeps == [.seconds(1), .seconds(60), .seconds(3_600)])
        #expect(try await clock.nextSleep() == .seconds(1))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeps.count == 3)
    }
}

/// Everything in this package that waits uses a clock, and a test observes each wait.
@Suite(.timeLimit(.minutes(10)))
struct TestClockUseTests {
    private let clock = TestClock()
    private let endPoint: URLEndPoint

    init() throws {
        endPoint = URLEndPoint(.get, try #require(URL(string: "https://h.example/p")))
    }

    @Test("the backoff of retries doubles and is waited for")
    func backoff() async throws {
        let session = StubSession { _ in .status(503) }
        let policy = RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(2), jitter: nil, clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let call = Task { try await router.response(for: endPoint) }
        for (attempt, seconds) in [2, 4, 8].enumerated() {
            let wait = try await clock.nextSleep()
            #expect(wait == .seconds(seconds))
            #expect(session.requests.count == attempt + 1)
            clock.advance(by: wait)
        }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.statusCode == 503)
        #expect(session.requests.count == 4)
    }

    @Test("a Retry-After in seconds is waited for exactly")
    func retryAfterSeconds() async throws {
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
    @Test("a Retry-After as a date is waited for")
    func retryAfterDate() async throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        let start = Date()
        let date = formatter.string(from: start + 1_000)
        let session = StubSession(.status(503, headers: ["Retry-After": date]), .text("done"))
        let policy = RetryPolicy(maximumDelay: .seconds(2_000), clock: clock)
        let router = Router<URLEndPoint>(session: session, interceptors: [policy])
        let call = Task { try await router.response(for: endPoint) }
        let wait = try await clock.nextSleep()
        // The date has whole seconds.
        #expect(wait > .seconds(998 - Date().timeIntervalSince(start)) && wait <= .seconds(1_000))
        clock.advance(by: wait)
        #expect(try await call.value.text == "done")
    }

    @Test("the total timeout ends a call")
    func totalTimeout() async throws {
        let router = Router<URLEndPoint>(session: StubSession { _ in .stall }, clock: clock)
        let options = RequestOptions { $0.timeouts = Timeouts(idle: nil, total: .seconds(90)) }
        let endPoint = URLEndPoint(.get, endPoint.baseURL, options: options)
        let call = Task { try await router.response(for: endPoint) }
        #expect(try await clock.nextSleep() == .seconds(90))
        clock.advance(by: .seconds(90))
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.code == .timedOut)
    }

    @Test("the delay of a stub is waited for")
    func stubDelay() async throws {
        let session = StubSession(clock: clock, .text("late").delayed(by: .seconds(5)))
        let call = Task { try await session.send(NetworkRequest(.get, endPoint.baseURL)) }
        let wait = try await clock.nextSleep()
        #expect(wait == .seconds(5))
        clock.advance(by: wait)
        #expect(try await call.value.text == "late")
    }

    @Test("a stalled stub ends with the timeout")
    func stubStall() async throws {
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
