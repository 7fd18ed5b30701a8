import Foundation
import Switchboard

/// A clock that advances only when a test advances it, so that backoff, timeouts and `Retry-After` take no real time.
///
/// ```swift
/// import SwitchboardTesting
///
/// let clock = TestClock()
/// let session = StubSession(.status(503), .text("done"))
/// let policy = RetryPolicy(
///     baseDelay: .seconds(2), jitter: nil, clock: clock)
/// let router = Router<MovieApi>(session: session, interceptors: [policy])
/// let call = Task { try await router.response(for: .popular(page: 1)) }
/// let wait = try await clock.nextSleep()    // returns when a task sleeps
/// #expect(wait == .seconds(2))
/// clock.advance(by: wait)
/// #expect(try await call.value.text == "done")
/// ```
///
/// A time limit of the test cancels an `async let`. It does not cancel a `Task`, and a test that waits for one may then
/// never end.
///
/// Interceptors, routers and WebSockets take a clock. Event streams and transfers wait on that of their `RetryPolicy`;
/// that of a `Router` measures only the total timeout. ``StubSession`` and ``NetworkConditioner`` take a clock for
/// their delays. Real sessions and ``MockServer`` use real time. With ``init(skips:)`` the clock advances by itself.
public final class TestClock: Clock, Sendable {
    /// A point in the time of a test.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// The time since the clock's beginning.
        public let offset: Swift.Duration

        /// Creates the point at this offset from a clock's beginning.
        public init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        /// Returns the point that is later by a duration.
        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        /// Returns the time from this point to the other one, negative when the other is earlier.
        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        /// Returns whether the first point is earlier than the second.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
        /// The offset, as `2.0 seconds`.
        public var description: String { "\(offset)" }
    }

    private struct Sleeper: Sendable {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        /// The sleepers by the numbers of their sleeps.
        var sleepers: [Int: Sleeper] = [:]
        var lastNumber = 0
        var sleeps = Arrivals<Swift.Duration>()
    }

    /// Whether each sleep ends at once and advances the time.
    public let skips: Bool
    /// Zero, because sleeps end exactly at their deadlines.
    public let minimumResolution = Swift.Duration.zero
    private let state = WaitableState(State())

    /// Creates a clock at its beginning.
    ///
    /// - Parameter skips: If true, each sleep ends at once and advances the time, so that ``now`` is the time that all
    ///   sleeps would have taken. Use it for one sleeper at a time. Of two sleepers, each advances the other's time: a
    ///   timeout of a minute next to a request ends at once, and the request with it. A loop of waits without an end,
    ///   such as a ``MockResponse/stall`` without timeouts, never ends. Default false.
    public init(skips: Bool = false) {
        self.skips = skips
    }

    /// The current time of the clock.
    public var now: Instant { state.withLock { $0.now } }

    /// The durations of all sleeps, canceled ones included, in the order in which they began.
    public var sleeps: [Swift.Duration] { state.withLock { $0.sleeps.all } }

    /// The number of tasks that sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    // MARK: Advancing

    /// Advances the time and wakes the sleepers whose deadlines have come, in the order of their deadlines. Of equal
    /// deadlines, the first sleeper wakes first.
    ///
    /// A task that sleeps again after waking counts from the new time. To observe the waits of a loop one by one,
    /// advance the clock by the results of ``nextSleep(within:)``. A negative duration does nothing.
    public func advance(by duration: Swift.Duration) {
        wake { $0.advanced(by: duration) }
    }

    /// Advances the time to a point, like ``advance(by:)``. A point in the past does nothing.
    public func advance(to instant: Instant) {
        wake { _ in instant }
    }

    private func wake(until target: (Instant) -> Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, target(state.now))
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
        }
        for (_, sleeper) in due { sleeper.continuation.resume() }
    }

    // MARK: Sleeping

    /// Waits for the first sleep that no earlier call returned, and returns its duration.
    ///
    /// Past sleeps are returned too, one per call, in the order in which they began.
    ///
    /// - Parameter limit: The longest time to wait, in real time. Default 30 seconds.
    /// - Returns: The time from the moment the sleep began to its deadline.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when no task sleeps within the limit, or
    ///   `CancellationError`.
    public func nextSleep(within limit: Swift.Duration = .seconds(30)) async throws -> Swift.Duration {
        try await state.wait(
            within: limit,
            reason: { "TestClock: no task slept on this clock after \($0.sleeps.count) reported sleeps" },
            for: { $0.sleeps.next() })
    }

    /// Sleeps until the clock reaches a point. Returns at once when it is there already.
    ///
    /// - Parameters:
    ///   - deadline: The point.
    ///   - tolerance: Ignored.
    /// - Throws: `CancellationError` when the task is canceled, before or during the sleep.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        try Task.checkCancellation()
        guard !skips else { return await skip(to: deadline) }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(Sleeper(deadline: deadline, continuation: continuation), number)
                // A cancellation before the registration found no sleeper.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func skip(to deadline: Instant) async {
        state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
        // Other tasks can run, as they can during a real sleep.
        await Task.yield()
    }

    private func register(_ sleeper: Sleeper, _ number: Int) {
        let isOver = state.withLock { state in
            state.sleeps.append(state.now.duration(to: sleeper.deadline))
            guard sleeper.deadline > state.now else { return true }
            state.sleepers[number] = sleeper
            return false
        }
        if isOver { sleeper.continuation.resume() }
    }

    private func cancel(_ number: Int) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
