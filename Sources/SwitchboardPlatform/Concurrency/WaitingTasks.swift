/// The tasks that wait for a change of a protected state, stored in that state.
package struct WaitingTasks: Sendable {
    private typealias Waiter = (id: Int, task: UnsafeContinuation<Void, Never>)

    // Usually one task waits, which needs no array.
    private var first: Waiter?
    /// The tasks after the first one, in the order of their IDs.
    private var others: ArraySlice<Waiter> = []
    private var lastID = 0

    package init() {}

    package var isEmpty: Bool { first == nil }

    /// Adds a task, and returns its ID.
    fileprivate mutating func append(_ task: UnsafeContinuation<Void, Never>) -> Int {
        lastID += 1
        if first == nil { first = (lastID, task) } else { others.append((lastID, task)) }
        return lastID
    }

    /// Removes and returns a task. Nil if it was resumed.
    fileprivate mutating func remove(_ id: Int) -> UnsafeContinuation<Void, Never>? {
        if first?.id == id { return takeFirst() }
        var (low, high) = (others.startIndex, others.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if others[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < others.endIndex && others[low].id == id ? others.remove(at: low).task : nil
    }

    /// Removes and returns all tasks. The caller resumes them without the lock.
    package mutating func take() -> WaitingTasks {
        defer { (first, others) = (nil, []) }
        return self
    }

    /// Removes and returns the task that has waited longest.
    package mutating func takeFirst() -> UnsafeContinuation<Void, Never>? {
        defer { first = others.popFirst() }
        return first?.task
    }

    package func resume() {
        first?.task.resume()
        for waiter in others { waiter.task.resume() }
    }
}

extension Protected {
    /// Suspends the task until another one takes and resumes it, or until it is canceled. Returns at once when `isReady`
    /// is true. Callers check their condition again.
    package func wait(
        in tasks: any WritableKeyPath<Value, WaitingTasks> & Sendable, unless isReady: (inout Value) -> Bool
    ) async {
        nonisolated(unsafe) var id = 0  // used with the lock
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = withLock { value in
                    if isReady(&value) || Task.isCancelled { return true }
                    id = value[keyPath: tasks].append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            withLock { $0[keyPath: tasks].remove(id) }?.resume()
        }
    }

    /// Suspends the task while the condition is true, or until it is canceled.
    package func wait(
        while condition: (Value) -> Bool, in tasks: any WritableKeyPath<Value, WaitingTasks> & Sendable
    ) async {
        while !Task.isCancelled, withLock({ condition($0) }) {
            await wait(in: tasks, unless: { !condition($0) })
        }
    }
}
