import Switchboard
import SwitchboardPlatform

/// A queue of waiting requests, in order of arrival. Not thread-safe.
struct Waiters: Sendable {
    typealias Waiter = CheckedContinuation<Void, any Error>

    /// The ids in order of arrival, including those of requests that have left.
    private var ids: [Int] = []
    private var start = 0
    private var waiters: [Int: Waiter] = [:]

    var count: Int { waiters.count }
    var isEmpty: Bool { waiters.isEmpty }

    /// The id of the request that arrived first.
    var first: Int? {
        mutating get {
            while start < ids.count, waiters[ids[start]] == nil { start += 1 }
            return start < ids.count ? ids[start] : nil
        }
    }

    mutating func append(_ waiter: Waiter, _ id: Int) {
        compact()
        ids.append(id)
        waiters[id] = waiter
    }

    mutating func removeFirst() -> Waiter? {
        guard let first else { return nil }
        start += 1
        return waiters.removeValue(forKey: first)
    }

    /// Removes and returns the continuation of a request, or nil if it has left.
    mutating func remove(_ id: Int) -> Waiter? {
        waiters.removeValue(forKey: id)
    }

    /// Removes the ids of requests that have left, once they are the majority.
    private mutating func compact() {
        guard ids.count > 64, ids.count > waiters.count * 2 else { return }
        ids.removeAll { waiters[$0] == nil }
        start = 0
    }
}

/// Waits in a queue until the continuation resumes, or until the task or its call is canceled.
///
/// - Parameters:
///   - enqueue: Adds the continuation to the queue, or resumes it immediately. Its id is greater than all earlier ones.
///   - onCancel: Removes the continuation with the id from the queue if it is still there, and resumes it with
///     `CancellationError`.
/// - Throws: `CancellationError`.
func waitInQueue(
    _ enqueue: (Waiters.Waiter, _ id: Int) -> Void, onCancel: @escaping @Sendable (_ id: Int) -> Void
) async throws {
    try Call.check()
    let id = lastID.withLock { lastID in
        lastID += 1
        return lastID
    }
    try await withCancellation {
        try await withCheckedThrowingContinuation { continuation in
            enqueue(continuation, id)
            // A cancellation before `enqueue` did not find the continuation in the queue.
            if Task.isCancelled || Call.current?.isCancelled == true { onCancel(id) }
        }
    } onCancel: {
        onCancel(id)
    }
}

private let lastID = Protected(0)
