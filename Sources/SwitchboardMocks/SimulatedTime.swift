import Foundation
import Switchboard
import SwitchboardPlatform

/// The time that a mock simulates for one request. It waits on a clock, and no longer than the request's timeouts allow.
struct SimulatedTime: Sendable {
    private let clock: any Clock<Duration>
    private var attempt: Duration?
    private let elapsed: @Sendable () -> Duration
    private let source: String

    init(_ clock: any Clock<Duration>, attempt: Duration?, source: String) {
        self.clock = clock
        self.attempt = attempt
        self.source = source
        elapsed = clock.stopwatch()
    }

    /// The same time for an upgraded connection, which may take longer than the attempt.
    var withoutLimit: SimulatedTime {
        var time = self
        time.attempt = nil
        return time
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
        throw NetworkError(.timedOut, reason: "\(source): the answer came later than timeouts.\(name) allows")
    }

    /// Waits until the limit, the end of the attempt or a cancellation.
    func stall(limit: Duration?) async throws -> Never {
        while true { try await wait(for: .century, limit: limit) }
    }

    func wait(for count: Int64, at bytesPerSecond: Int) async throws {
        try await wait(for: .taken(by: count, at: bytesPerSecond))
    }

    private func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        try await withOwnTask { [clock] in try await clock.sleep(for: duration.clamped) }
        try Task.checkCancellation()
    }
}

extension Duration {
    /// Returns the time that `count` bytes take, to the nanosecond.
    static func taken(by count: Int64, at bytesPerSecond: Int) -> Duration {
        guard count > 0 else { return .zero }
        let rate = UInt64(max(1, bytesPerSecond))
        let (seconds, rest) = UInt64(count).quotientAndRemainder(dividingBy: rate)
        let (nanoseconds, _) = rate.dividingFullWidth(rest.multipliedFullWidth(by: 1_000_000_000))
        return (.seconds(Int64(clamping: seconds)) + .nanoseconds(Int64(nanoseconds))).clamped
    }
}
