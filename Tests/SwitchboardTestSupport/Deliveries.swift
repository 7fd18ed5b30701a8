import SwitchboardPlatform

/// Records the values of a completion, an interceptor or a stub in order. A test waits for them instead of sleeping.
package final class Deliveries<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let count: Int
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var values: [Value] = []
        var nextID = 0
        var waiters: [Int: Waiter] = [:]
        var gone: Set<Int> = []
    }

    private let state = Protected(State())

    package init() {}

    /// The values so far.
    package var all: [Value] { state.value.values }

    package func add(_ value: Value) {
        _ = count(adding: value)
    }

    /// Adds a value and returns the number of values with it. ``all`` may have more already.
    package func count(adding value: Value) -> Int {
        let (count, ready) = state.withLock { state in
            state.values.append(value)
            let ready = state.waiters.filter { $0.value.count <= state.values.count }
            for id in ready.keys { state.waiters[id] = nil }
            return (state.values.count, Array(ready.values))
        }
        for waiter in ready { waiter.continuation.resume() }
        return count
    }

    /// Waits for at least `count` values and returns all so far. Throws when the test's time is over.
    package func wait(for count: Int) async throws -> [Value] {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.values.count < count, !state.gone.contains(id) else { return true }
                    state.waiters[id] = Waiter(count: count, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.gone.insert(id)
                return state.waiters.removeValue(forKey: id)
            }
            waiter?.continuation.resume()
        }
        let values = all
        guard values.count >= count else { throw CancellationError() }
        return values
    }

    /// Waits for the first value.
    package func first() async throws -> Value {
        try await wait(for: 1)[0]
    }
}

extension Deliveries<Bool> {
    /// Resumes the tasks that wait for ``first()``.
    package func open() {
        add(true)
    }
}
