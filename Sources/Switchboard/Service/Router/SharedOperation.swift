import SwitchboardPlatform

/// An operation that several callers wait for. It runs in a separate task: a canceled caller stops waiting, and the
/// others continue.
package final class SharedOperation<Output: Sendable>: Sendable {
    private struct State {
        var result: Result<Output, any Error>?
        var task: Task<Void, any Error>?
        var nextID = 0
        /// The callers that have joined, including those that do not wait yet.
        var callers: Set<Int> = []
        var continuations: [Int: CheckedContinuation<Output, any Error>] = [:]
    }

    private let state = Protected(State())
    /// Whether the operation is canceled when the last caller leaves.
    private let cancelsWhenAbandoned: Bool

    package init(cancelsWhenAbandoned: Bool) {
        self.cancelsWhenAbandoned = cancelsWhenAbandoned
    }

    var isInFlight: Bool { state.withLock { $0.result == nil } }

    /// Adds a caller and returns its number, or nil when the operation has ended.
    package func join() -> Int? {
        state.withLock { state in
            guard state.result == nil else { return nil }
            state.nextID += 1
            state.callers.insert(state.nextID)
            return state.nextID
        }
    }

    package func start(_ operation: @escaping @Sendable () async -> Result<Output, any Error>) {
        let task = Call.$current.withValue(nil) {
            startTask { self.finish(await operation()) }
        }
        let isOver = state.withLock { state in
            state.task = task
            return state.result != nil
        }
        if isOver { task.cancel() }
    }

    /// Waits for the result. `caller` is a number from ``join()``.
    package func value(for caller: Int) async throws -> Output {
        try await withCancellation {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Output, any Error>? = state.withLock { state in
                    guard state.callers.contains(caller) else { return .failure(CancellationError()) }
                    if let result = state.result { return result }
                    state.continuations[caller] = continuation
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            self.leave(caller)
        }
    }

    /// Waits until the operation has ended, even if its result is already known.
    func waitForEnd() async {
        _ = await state.withLock { $0.task }?.result
    }

    /// Delivers the result to all callers and cancels the operation if it still runs. Does nothing if a result exists.
    package func finish(_ result: Result<Output, any Error>) {
        let (continuations, task) = state.withLock { state in
            guard state.result == nil else {
                return ([], nil) as ([CheckedContinuation<Output, any Error>], Task<Void, any Error>?)
            }
            state.result = result
            defer { state.continuations = [:] }
            return (Array(state.continuations.values), state.task)
        }
        for continuation in continuations { continuation.resume(with: result) }
        task?.cancel()
    }

    private func leave(_ caller: Int) {
        let (continuation, isAbandoned) = state.withLock { state in
            guard state.result == nil, state.callers.remove(caller) != nil else {
                return (nil, false) as (CheckedContinuation<Output, any Error>?, Bool)
            }
            let isAbandoned = cancelsWhenAbandoned && state.callers.isEmpty
            // No caller can join anymore.
            if isAbandoned { state.result = .failure(CancellationError()) }
            return (state.continuations.removeValue(forKey: caller), isAbandoned)
        }
        continuation?.resume(throwing: CancellationError())
        if isAbandoned { state.withLock { $0.task }?.cancel() }
    }
}

/// Operations by key, each shared by its concurrent callers. When the last caller leaves, the operation is canceled.
package final class SharedOperations<Key: Hashable & Sendable, Output: Sendable, Context: Sendable>: Sendable {
    private struct Entry {
        let operation: SharedOperation<Output>
        let context: Context
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The operations that run, by their numbers, including canceled ones that have not ended.
        var running: [Int: SharedOperation<Output>] = [:]
        var lastNumber = 0
    }

    private let state = Protected(State())

    package init() {}

    package var count: Int { state.withLock { Array($0.entries.values) }.count { $0.operation.isInFlight } }

    /// Waits for the value of an operation: the one in flight for the key, or a new one.
    ///
    /// - Parameters:
    ///   - key: Identifies the operation.
    ///   - context: A value for a new operation.
    ///   - didJoin: Called with the context of the operation in flight when the caller joins it.
    ///   - body: The operation, called with its context.
    /// - Returns: The value of the operation.
    /// - Throws: The error of the operation, or `CancellationError` when the caller was canceled.
    package func value(
        for key: Key, context: @autoclosure () -> Context, didJoin: (Context) -> Void,
        _ body: @escaping @Sendable (Context) async throws -> Output
    ) async throws -> Output {
        try Call.check()
        let (entry, caller, number) = state.withLock { state -> (Entry, Int, Int?) in
            // An operation must not wait for itself.
            if let entry = state.entries[key], !EnclosingOperations.contain(entry.operation),
                let caller = entry.operation.join()
            {
                return (entry, caller, nil)
            }
            let entry = Entry(operation: SharedOperation<Output>(cancelsWhenAbandoned: true), context: context())
            state.lastNumber += 1
            state.entries[key] = entry
            state.running[state.lastNumber] = entry.operation
            return (entry, entry.operation.join() ?? 0, state.lastNumber)
        }
        if let number {
            entry.operation.start {
                let result: Result<Output, any Error>
                do {
                    result = .success(
                        try await EnclosingOperations.run(of: entry.operation) { try await body(entry.context) })
                } catch {
                    result = .failure(error)
                }
                self.remove(entry.operation, key, number)
                return result
            }
        } else {
            didJoin(entry.context)
        }
        return try await entry.operation.value(for: caller)
    }

    /// Cancels the operations in flight, and waits until all have ended, except those that contain the running code.
    package func cancelAll() async {
        let running = state.withLock { $0.running }.sorted { $0.key < $1.key }.map(\.value)
        for operation in running { operation.finish(.failure(CancellationError())) }
        for operation in running where !EnclosingOperations.contain(operation) { await operation.waitForEnd() }
    }

    private func remove(_ operation: SharedOperation<Output>, _ key: Key, _ number: Int) {
        state.withLock { state in
            if state.entries[key]?.operation === operation { state.entries[key] = nil }
            state.running[number] = nil
        }
    }
}
