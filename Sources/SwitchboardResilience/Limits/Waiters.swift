import Switchboard

/// A queue of waiting requests, in order of arrival. Needs a lock around it.
struct Waiters: Sendable {
    typealias Turn = CheckedContinuation<Void, any Error>

    /// The ids in order of arrival, including those of requests that have left.
    private var ids: [Int] = []
    private var start = 0
    private var turns: [Int: Turn] = [:]

    var count: Int { turns.count }
    var isEmpty: Bool { turns.isEmpty }

    /// The id of the request that arrived first.
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

    /// Removes and returns the continuation of a request, or nil if it has left.
    mutating func remove(_ id: Int) -> Turn? {
        turns.removeValue(forKey: id)
    }

    /// Removes the ids of requests that have left, once they are the majority.
    private mutating func tidy() {
        guard ids.count > 64, ids.count > turns.count * 2 else { return }
        ids.removeAll { turns[$0] == nil }
        start = 0
    }
}

/// Waits in a queue until the continuation resumes, or until the task or its call is canceled.
///
/// - Parameters:
///   - enqueue: Adds the continuation to the queue, or resumes it at once.
///   - leave: Removes the continuation from the queue if it is still there, and resumes it with `CancellationError`.
/// - Throws: `CancellationError`.
func waitForTurn(
    _ enqueue: (CheckedContinuation<Void, any Error>) -> Void, leave: @escaping @Sendable () -> Void
) async throws {
    try CallCancellation.check()
    try await withCancellation {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(continuation)
            // An earlier cancellation found nothing in the queue to remove.
            if Task.isCancelled || CallCancellation.current?.isCancelled == true { leave() }
        }
    } onCancel: {
        leave()
    }
}
