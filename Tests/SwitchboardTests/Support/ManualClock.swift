import Foundation

@testable import Switchboard

/// A clock that stands still until a test moves it.
///
/// A clock that `skips` moves by itself as far as somebody wants to sleep, at once: waits cost nothing and are noted all the same.
final class ManualClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        var offset = Duration.zero

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    private struct Sleeper: Sendable {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State: Sendable {
        var now = Instant()
        var nextID = 0
        var sleepers: [Int: Sleeper] = [:]
        var gone: Set<Int> = []
    }

    /// How long each sleep was to take, in the order they began.
    let sleeps = Deliveries<Duration>()
    let minimumResolution = Duration.zero
    private let skips: Bool
    private let state = Protected(State())

    init(skips: Bool = false) {
        self.skips = skips
    }

    var now: Instant { state.value.now }
    var sleeperCount: Int { state.value.sleepers.count }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return Array(due.values)
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let wanted = now.duration(to: deadline)
        guard !skips else {
            advance(by: wanted)
            return sleeps.add(wanted)
        }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isGone = state.withLock { state in
                    guard !state.gone.contains(id) else { return true }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    return false
                }
                sleeps.add(wanted)
                if isGone { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.gone.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
