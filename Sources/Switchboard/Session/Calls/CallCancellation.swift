import SwitchboardPlatform

/// What cancels one call of a router from outside its task.
///
/// A call runs in its caller's task: a task of its own would cost two more switches between threads for each call. So
/// `Router.cancel()` cannot cancel a task; it cancels this, which the places that wait look at: the sessions, and the
/// waits between attempts.
package class CallCancellation: @unchecked Sendable {  // what changes is under the lock of `state`, or of a router
    /// That of the call around the running code; nil outside of one.
    @TaskLocal package static var current: CallCancellation?

    struct State {
        var isCancelled = false
        var nextID = 0
        var handlers: [(id: Int, run: @Sendable () -> Void)] = []
        var record = CallRecord.Notes()
        /// That of the call in which this one was made.
        var outer: CallCancellation?
    }

    let state: Protected<State>
    /// Where it stands among the calls of its router, under the lock of these; nil when it is not one of them.
    @exclusivity(unchecked) var place: Int?
    private let hasOuter: Bool

    /// Makes one within another: a download around one of its requests.
    package init(outer: CallCancellation? = current) {
        state = Protected(State(outer: outer))
        hasOuter = outer != nil
    }

    /// Lets go of the call around it: a response holds its call, and would hold that one too.
    func end() {
        guard hasOuter else { return }
        let outer = state.withLock { state in
            defer { state.outer = nil }
            return state.outer
        }
        withExtendedLifetime(outer) {}  // until the lock is let go of
    }

    /// Whether the running code is part of this call, or of one within it.
    var isAround: Bool {
        var call = Self.current
        while let one = call {
            if one === self { return true }
            call = one.state.withLock { $0.outer }
        }
        return false
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs what waits for it, once.
    func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler.run() }
    }

    /// Adds what is to be run; at once when it is cancelled already.
    func add(_ handler: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.nextID += 1
            state.handlers.append((state.nextID, handler))
            return state.nextID
        }
        if id == nil { handler() }
        return id ?? 0
    }

    func remove(_ id: Int) {
        state.withLock { state in
            if let index = state.handlers.lastIndex(where: { $0.id == id }) { state.handlers.remove(at: index) }
        }
    }

    /// Runs an operation as this call: what waits in it looks at this, and the call around it ends it too.
    func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard let outer = Self.current else {
            return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
        }
        let id = outer.add { self.cancel() }
        defer { outer.remove(id) }
        return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
    }

    /// Throws when the running task or the call around it was cancelled.
    package static func check() throws {
        try Task.checkCancellation()
        if current?.isCancelled == true { throw CancellationError() }
    }
}

/// Waits, and runs `onCancel` once or twice when the task is cancelled, or the call around it.
package func withCancellation<Output>(
    isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output,
    onCancel: @escaping @Sendable () -> Void
) async throws -> Output {
    guard let call = CallCancellation.current else {
        return try await withTaskCancellationHandler(operation: operation, onCancel: onCancel)
    }
    let id = call.add(onCancel)
    defer { call.remove(id) }
    return try await withTaskCancellationHandler(operation: operation, onCancel: onCancel)
}

/// Runs in a task of its own what knows nothing of ``CallCancellation``, so that it can be cancelled.
package func withOwnTask<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output
) async throws -> Output {
    guard CallCancellation.current != nil else { return try await operation() }
    let task = startTask(operation)
    return try await withCancellation {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}
