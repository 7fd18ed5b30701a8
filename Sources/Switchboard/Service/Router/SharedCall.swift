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
        let task = Call.$current.withValue(nil) {
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

/// Operations by key, each shared by all callers that request it while it runs. The last caller that leaves cancels it.
package final class SharedCalls<Key: Hashable & Sendable, Output: Sendable, Note: Sendable>: Sendable {
    private struct Entry {
        let call: SharedCall<Output>
        let note: Note
    }

    private let entries = Protected<[Key: Entry]>([:])

    package init() {}

    /// The number of operations in flight.
    package var count: Int { entries.withLock { Array($0.values) }.count { $0.call.isUnderWay } }

    /// Waits for the value of an operation: the one in flight for the key, or a new one.
    ///
    /// - Parameters:
    ///   - key: Identifies the operation.
    ///   - note: A note that is stored with a new operation.
    ///   - didJoin: Called with the note of the operation in flight when the caller joins it.
    ///   - operation: The operation, called with its note. It does not end with a single caller's task or call.
    /// - Returns: The value of the operation.
    /// - Throws: The error of the operation, or `CancellationError` when the caller was canceled.
    package func value(
        for key: Key, note: @autoclosure () -> Note, didJoin: (Note) -> Void = { _ in },
        _ operation: @escaping @Sendable (Note) async throws -> Output
    ) async throws -> Output {
        try Call.check()
        let (entry, place, isNew) = entries.withLock { entries in
            if let entry = entries[key], let place = entry.call.enter() { return (entry, place, false) }
            let entry = Entry(call: SharedCall<Output>(endsWithCallers: true), note: note())
            entries[key] = entry
            return (entry, entry.call.enter() ?? 0, true)
        }
        if isNew {
            entry.call.start {
                let result: Result<Output, any Error>
                do { result = .success(try await operation(entry.note)) } catch { result = .failure(error) }
                self.remove(entry.call, key)
                return result
            }
        } else {
            didJoin(entry.note)
        }
        return try await entry.call.value(at: place)
    }

    private func remove(_ call: SharedCall<Output>, _ key: Key) {
        entries.withLock { if $0[key]?.call === call { $0[key] = nil } }
    }
}
