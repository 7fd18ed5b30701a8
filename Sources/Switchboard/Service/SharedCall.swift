import SwitchboardPlatform

/// An operation that several callers wait for. It runs in a separate task: when one caller is canceled, it stops
/// waiting, and the others continue to wait.
package final class SharedCall<Output: Sendable>: Sendable {
    private struct State {
        var result: Result<Output, any Error>?
        var task: Task<Void, any Error>?
        var nextID = 0
        /// The callers that have entered, whether they wait yet or not.
        var present: Set<Int> = []
        var waiters: [Int: CheckedContinuation<Output, any Error>] = [:]
    }

    private let state = Protected(State())
    /// Whether the operation is canceled when the last caller has left.
    private let endsWithCallers: Bool

    package init(endsWithCallers: Bool) {
        self.endsWithCallers = endsWithCallers
    }

    /// Whether the operation is in flight and can be joined.
    var isUnderWay: Bool { state.withLock { $0.result == nil } }

    /// Joins the callers and returns the caller's number, or nil when the operation is over.
    package func enter() -> Int? {
        state.withLock { state in
            guard state.result == nil else { return nil }
            state.nextID += 1
            state.present.insert(state.nextID)
            return state.nextID
        }
    }

    /// Starts the operation. A caller's cancellation does not cancel it.
    package func start(_ operation: @escaping @Sendable () async -> Result<Output, any Error>) {
        let task = CallCancellation.$current.withValue(nil) {
            startTask { self.finish(await operation()) }
        }
        let isOver = state.withLock { state in
            state.task = task
            return state.result != nil
        }
        if isOver { task.cancel() }
    }

    /// Waits for the result, as the caller with a number from ``enter()``.
    package func value(at place: Int) async throws -> Output {
        try await withCancellation {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Output, any Error>? = state.withLock { state in
                    guard state.present.contains(place) else { return .failure(CancellationError()) }
                    if let result = state.result { return result }
                    state.waiters[place] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            self.leave(place)
        }
    }

    /// Delivers the result to all callers and cancels the operation if it still runs. Does nothing if a result exists.
    package func finish(_ result: Result<Output, any Error>) {
        let (waiters, task) = state.withLock { state in
            guard state.result == nil else {
                return ([], nil) as ([CheckedContinuation<Output, any Error>], Task<Void, any Error>?)
            }
            state.result = result
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), state.task)
        }
        for waiter in waiters { waiter.resume(with: result) }
        task?.cancel()
    }

    private func leave(_ place: Int) {
        let (waiter, isAbandoned) = state.withLock { state in
            guard state.result == nil, state.present.remove(place) != nil else {
                return (nil, false) as (CheckedContinuation<Output, any Error>?, Bool)
            }
            let isAbandoned = endsWithCallers && state.present.isEmpty
            // From here on, nobody can join.
            if isAbandoned { state.result = .failure(CancellationError()) }
            return (state.waiters.removeValue(forKey: place), isAbandoned)
        }
        waiter?.resume(throwing: CancellationError())
        if isAbandoned { state.withLock { $0.task }?.cancel() }
    }
}
