/// The tasks that wait for a change of a protected state, stored in that state.
package struct WaitingTasks: Sendable {
    // Usually one task waits, which needs no array.
    private var first: UnsafeContinuation<Void, Never>?
    private var others: [UnsafeContinuation<Void, Never>] = []

    package init() {}

    /// Whether no task waits.
    package var isEmpty: Bool { first == nil }

    fileprivate mutating func append(_ task: UnsafeContinuation<Void, Never>) {
        if first == nil { first = task } else { others.append(task) }
    }

    /// Removes and returns all tasks. The caller resumes them without the lock.
    package mutating func take() -> WaitingTasks {
        defer { (first, others) = (nil, []) }
        return self
    }

    /// Removes and returns the task that has waited longest.
    package mutating func takeFirst() -> UnsafeContinuation<Void, Never>? {
        defer { first = others.isEmpty ? nil : others.removeFirst() }
        return first
    }

    /// Resumes the tasks.
    package func resume() {
        first?.resume()
        for task in others { task.resume() }
    }
}

extension Protected {
    /// Suspends the task until another one takes and resumes it, or until it is canceled. Returns at once when `isReady`
    /// is true. A cancellation resumes all tasks of `tasks`, so callers check their condition again.
    package func wait(
        in tasks: any WritableKeyPath<Value, WaitingTasks> & Sendable, unless isReady: (inout Value) -> Bool
    ) async {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let isReady = withLock { value in
                    if isReady(&value) || Task.isCancelled { return true }
                    value[keyPath: tasks].append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            withLock { $0[keyPath: tasks].take() }.resume()
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
