import SwitchboardPlatform
import Foundation
import Switchboard

/// Measures one request under conditions: it waits on the clock, and no longer than the attempt may take.
struct ConditionedTime: Sendable {
    private let clock: any Clock<Duration>
    private let attempt: Duration?
    private let elapsed: @Sendable () -> Duration

    /// Creates the value and starts its time.
    init(_ clock: any Clock<Duration>, attempt: Duration?) {
        self.clock = clock
        self.attempt = attempt
        elapsed = Self.stopwatch(clock)
    }

    /// The time left for the attempt, or nil without limit.
    var rest: Duration? {
        attempt.map { max(.zero, $0 - elapsed()) }
    }

    /// Waits for `duration`. Stops earlier at `limit` or at the end of the attempt.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when it stops earlier, or `CancellationError`.
    func wait(for duration: Duration, limit: Duration? = nil) async throws {
        let limits = [(limit, "idle"), (rest, "attempt")].compactMap { time, name in time.map { ($0, name) } }
        guard let (least, name) = limits.min(by: { $0.0 < $1.0 }), least < duration else {
            return try await sleep(for: duration)
        }
        try await sleep(for: least)
        throw NetworkError(
            .timedOut, reason: "simulated conditions: the answer came later than timeouts.\(name) allows")
    }

    /// Waits for the time that `count` bytes take.
    func wait(for count: Int64, at bytesPerSecond: Int) async throws {
        try await wait(for: Self.time(for: count, at: bytesPerSecond))
    }

    /// Returns the time that `count` bytes take, to the nanosecond.
    static func time(for count: Int64, at bytesPerSecond: Int) -> Duration {
        guard count > 0 else { return .zero }
        let rate = UInt64(max(1, bytesPerSecond))
        let (seconds, rest) = UInt64(count).quotientAndRemainder(dividingBy: rate)
        let (nanoseconds, _) = rate.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000))
        return (.seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(nanoseconds))).clamped
    }

    private func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await withOwnTask { [clock] in try await clock.sleep(for: duration) }
        try Task.checkCancellation()
    }

    private static func stopwatch<SomeClock: Clock>(
        _ clock: SomeClock
    ) -> @Sendable () -> Duration where SomeClock.Duration == Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
