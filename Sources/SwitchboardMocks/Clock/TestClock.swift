import Foundation
import Switchboard

/// A clock that stands still until a test moves it: backoff, timeouts and `Retry-After` take no real time.
///
/// ```swift
/// let clock = TestClock()
/// let session = StubSession(.status(503), .text("done"))
/// let policy = RetryPolicy(baseDelay: .seconds(2), jitter: .none, clock: clock)
/// let router = Router<MovieApi>(session: session, interceptors: [policy])
/// let call = Task { try await router.response(for: .popular(page: 1)) }
/// let wait = try await clock.nextSleep()              // returns when somebody sleeps
/// #expect(wait == .seconds(2))
/// clock.advance(by: wait)
/// #expect(try await call.value.text == "done")
/// ```
///
/// Everything in this package that waits takes a clock: `RetryPolicy`, `Router`, ``StubSession``,
/// ``NetworkConditioner``. With ``init(skips:)`` nobody has to move it.
public final class TestClock: Clock, Sendable {
    /// A point in the time of a test.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        /// How far it is from the clock's beginning.
        public let offset: Swift.Duration

        /// Makes the point that lies this far from a clock's beginning.
        public init(offset: Swift.Duration = .zero) {
            self.offset = offset
        }

        /// The point that lies a duration later.
        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        /// How much later the other point is; negative when it is earlier.
        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        /// Whether one is earlier than the other.
        public static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
        /// The offset, as `2.0 seconds`.
        public var description: String { "\(offset)" }
    }

    private struct Sleeper: Sendable {
        let id: UUID
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        /// By deadline, the first to come first among equals.
        var sleepers: [Sleeper] = []
        var sleeps: [Swift.Duration] = []
        /// How many of the sleeps `nextSleep` has given.
        var reported = 0
    }

    /// Whether each sleep ends at once and moves the time by itself.
    public let skips: Bool
    /// Zero: deadlines are met to the attosecond.
    public let minimumResolution = Swift.Duration.zero
    private let state = Watched(State())

    /// Makes a clock at its beginning.
    ///
    /// - Parameter skips: True for a clock that nobody has to move: each sleep ends at once and takes the time with it,
    ///   so that ``now`` says how long all of it would have taken. That suits one sleeper at a time. Of two, each would
    ///   move the time of the other: a timeout of a minute that runs beside a request ends at once, and the request
    ///   with it. Something that waits again and again for good, such as a ``MockResponse/stall`` without timeouts,
    ///   never ends. Default false.
    public init(skips: Bool = false) {
        self.skips = skips
    }

    /// The time as it was moved so far.
    public var now: Instant { state.withLock { $0.now } }

    /// How long each sleep was to take when it began, in the order of their beginnings, cancelled ones included.
    public var sleeps: [Swift.Duration] { state.withLock { $0.sleeps } }

    /// How many sleep now.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    // MARK: Moving

    /// Moves the time and wakes those whose deadlines have come, in the order of their deadlines; of equal ones the
    /// first to sleep first.
    ///
    /// One who sleeps again after waking counts from the new time: to see the waits of a loop one by one, move the clock
    /// by what ``nextSleep(within:)`` gives. A negative duration does nothing.
    public func advance(by duration: Swift.Duration) {
        wake { $0.advanced(by: duration) }
    }

    /// Moves the time to a point, as ``advance(by:)`` does. One that has passed does nothing.
    public func advance(to instant: Instant) {
        wake { _ in instant }
    }

    private func wake(until target: (Instant) -> Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, target(state.now))
            let due = state.sleepers.prefix { $0.deadline <= state.now }
            state.sleepers.removeFirst(due.count)
            return Array(due)
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    // MARK: Sleeping

    /// Waits until somebody sleeps whom it has not reported yet, and gives how long they want to.
    ///
    /// The sleepers of the past are reported too, one for each call, in the order in which they began.
    ///
    /// - Parameter limit: For how long to wait for that, in real time. Default 5 seconds.
    /// - Returns: The time from the moment the sleep began to its deadline.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when nobody does within the limit, `CancellationError`.
    public func nextSleep(within limit: Swift.Duration = .seconds(5)) async throws -> Swift.Duration {
        try await state.wait(
            within: limit,
            reason: { "TestClock: nobody slept after the \($0.sleeps.count) sleeps that were reported" },
            for: { state in
                guard state.reported < state.sleeps.count else { return nil }
                defer { state.reported += 1 }
                return state.sleeps[state.reported]
            })
    }

    /// Sleeps until the clock was moved to a point, or past it; not at all when that is where it stands.
    ///
    /// - Parameters:
    ///   - deadline: The point.
    ///   - tolerance: Nothing to this clock.
    /// - Throws: `CancellationError` when the task is cancelled, before or meanwhile.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        try Task.checkCancellation()
        guard !skips else { return await skip(to: deadline) }
        let id = UUID()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                register(Sleeper(id: id, deadline: deadline, continuation: continuation))
                // A cancellation before the registration found nobody to end.
                if Task.isCancelled { cancel(id) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func skip(to deadline: Instant) async {
        state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
        // Others get their turn, as they do while somebody sleeps.
        await Task.yield()
    }

    private func register(_ sleeper: Sleeper) {
        let isOver = state.withLock { state in
            state.sleeps.append(state.now.duration(to: sleeper.deadline))
            guard sleeper.deadline > state.now else { return true }
            let place = state.sleepers.firstIndex { $0.deadline > sleeper.deadline } ?? state.sleepers.endIndex
            state.sleepers.insert(sleeper, at: place)
            return false
        }
        if isOver { sleeper.continuation.resume() }
    }

    private func cancel(_ id: UUID) {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let place = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
            return state.sleepers.remove(at: place)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}
