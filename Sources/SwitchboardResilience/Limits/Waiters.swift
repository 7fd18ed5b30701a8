import Switchboard

/// Those who wait for their turn, the first to come first. Not locked by itself.
struct Waiters: Sendable {
    typealias Turn = CheckedContinuation<Void, any Error>

    /// In the order in which they came, with those who have left.
    private var ids: [Int] = []
    private var start = 0
    private var turns: [Int: Turn] = [:]

    var count: Int { turns.count }
    var isEmpty: Bool { turns.isEmpty }

    /// The one who came first.
    var first: Int? {
        mutating get {
            while start < ids.count, turns[ids[start]] == nil { start += 1 }
            return start < ids.count ? ids[start] : nil
        }
    }

    mutating func append(_ turn: Turn, _ id: Int) {
        tidy()
        ids.append(id)
        turns[id] = turn
    }

    mutating func removeFirst() -> Turn? {
        guard let first else { return nil }
        start += 1
        return turns.removeValue(forKey: first)
    }

    /// The one with that id, unless it is gone.
    mutating func remove(_ id: Int) -> Turn? {
        turns.removeValue(forKey: id)
    }

    /// Forgets those who have left, once they are the most.
    private mutating func tidy() {
        guard ids.count > 64, ids.count > turns.count * 2 else { return }
        ids.removeAll { turns[$0] == nil }
        start = 0
    }
}

/// Waits in a queue until somebody gives the turn, or until the task or the call around it is cancelled.
///
/// - Parameters:
///   - enqueue: Puts the turn into the queue, or resumes it at once.
///   - leave: Takes it out of the queue, if it is still there, and resumes it with `CancellationError`.
/// - Throws: `CancellationError`.
func waitForTurn(
    _ enqueue: (CheckedContinuation<Void, any Error>) -> Void, leave: @escaping @Sendable () -> Void
) async throws {
    try CallCancellation.check()
    try await withCancellation {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(continuation)
            // A cancellation before that found nobody to end.
            if Task.isCancelled || CallCancellation.current?.isCancelled == true { leave() }
        }
    } onCancel: {
        leave()
    }
}
