import Foundation

/// A clock on which a sleep takes no time, or lasts until it is cancelled. It says how long sleepers wanted to sleep.
final class JumpingClock: Clock {
    struct Instant: InstantProtocol {
        let offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    /// Each sleep as it begins.
    let sleeps: AsyncStream<Duration>
    private let began: AsyncStream<Duration>.Continuation
    private let isStill: Bool

    init(isStill: Bool = false) {
        (sleeps, began) = AsyncStream.makeStream()
        self.isStill = isStill
    }

    let now = Instant(offset: .zero)
    let minimumResolution: Swift.Duration = .zero

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        began.yield(deadline.offset)
        if isStill { try await Task.sleep(for: .seconds(3_600)) }
    }

    /// What was slept so far; no sleep may follow.
    func total() async -> Duration {
        began.finish()
        return await sleeps.reduce(.zero, +)
    }

    /// Returns when a sleep has begun.
    func firstSleep() async -> Duration? {
        await sleeps.first { _ in true }
    }
}
