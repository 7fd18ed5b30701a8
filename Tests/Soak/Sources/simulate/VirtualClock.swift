import Foundation

/// A clock whose time advances to the next deadline when nothing else is left to do. One thread uses it.
///
/// `TestClock` keeps each sleep for the assertions of a test, and does not state its next deadline.
final class VirtualClock: Clock, @unchecked Sendable {
    /// A point in virtual time.
    struct Instant: InstantProtocol {
        /// The time since the start.
        let offset: Duration

        init(offset: Duration = .zero) {
            self.offset = offset
        }

        func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private struct Sleeper {
        let id: Int
        let deadline: Instant
        let continuation: UnsafeContinuation<Void, any Error>
    }

    private(set) var now = Instant()
    let minimumResolution = Duration.zero
    /// By deadline. Equal deadlines keep the order of their beginnings.
    private var sleepers: [Sleeper] = []
    private var lastID = 0

    /// The time since the start, in milliseconds.
    var milliseconds: Int {
        let (seconds, attoseconds) = now.offset.components
        return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    }

    /// The date of the app and of all servers.
    var date: Date { Date(timeIntervalSince1970: 1_750_000_000 + Double(milliseconds) / 1_000) }

    var sleeperCount: Int { sleepers.count }

    /// The milliseconds of the first deadline, rounded up. Nil while nothing sleeps.
    var nextDeadline: Int? {
        guard let deadline = sleepers.first?.deadline.offset else { return nil }
        let (seconds, attoseconds) = deadline.components
        return Int(seconds) * 1_000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }

    /// Advances the time, and wakes the sleepers whose deadlines have come.
    func advance(toMilliseconds time: Int) {
        now = max(now, Instant(offset: .milliseconds(time)))
        while let first = sleepers.first, first.deadline <= now {
            sleepers.removeFirst()
            first.continuation.resume()
        }
    }

    func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try Task.checkCancellation()
        lastID += 1
        let id = lastID
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                guard deadline > now else { return continuation.resume() }
                guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
                let index = sleepers.firstIndex { $0.deadline > deadline } ?? sleepers.endIndex
                sleepers.insert(Sleeper(id: id, deadline: deadline, continuation: continuation), at: index)
            }
        } onCancel: {
            guard let index = sleepers.firstIndex(where: { $0.id == id }) else { return }
            sleepers.remove(at: index).continuation.resume(throwing: CancellationError())
        }
    }
}
