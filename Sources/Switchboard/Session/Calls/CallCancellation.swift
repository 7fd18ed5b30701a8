import SwitchboardPlatform

/// Cancels one call of a router from outside its task.
///
/// A call runs in its caller's task, because a separate task would cost two more thread switches for each call.
/// `Router.cancel()` cannot cancel that task. It cancels this object instead, which every waiting operation of a call
/// observes: sessions, and waits between attempts.
package class CallCancellation: @unchecked Sendable {  // mutable state is guarded by the lock of `state` or of a router
    /// The cancellation of the call that contains the running code. Nil outside of a call.
    @TaskLocal package static var current: CallCancellation?

    struct State {
        var isCancelled = false
        var nextID = 0
        var handlers: [(id: Int, run: @Sendable () -> Void)] = []
        var record = CallRecord.Notes()
        /// The cancellation of the call in which this call started.
        var outer: CallCancellation?
    }

    let state: Protected<State>
    /// The index among the calls of its router, guarded by the router's lock. Nil for a call that is not in the list.
    @exclusivity(unchecked) var place: Int?
    private let hasOuter: Bool

    /// Creates a call inside another one, such as a download around one of its requests.
    package init(outer: CallCancellation? = current) {
        state = Protected(State(outer: outer))
        hasOuter = outer != nil
    }

    /// Releases the enclosing call. A response retains its call, and would retain the enclosing one too.
    func end() {
        guard hasOuter else { return }
        let outer = state.withLock { state in
            defer { state.outer = nil }
            return state.outer
        }
        withExtendedLifetime(outer) {}  // until the lock is released
    }

    /// Whether the running code is part of this call or of a call inside it.
    var isAround: Bool {
        var call = Self.current
        while let one = call {
            if one === self { return true }
            call = one.state.withLock { $0.outer }
        }
        return false
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the call and runs each handler once.
    func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler.run() }
    }

    /// Adds a handler that runs on cancellation, or runs it at once if the call is already canceled.
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

    /// Runs an operation as this call. Waiting code in it observes this object, and canceling the enclosing call
    /// cancels it.
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

    /// Throws if the running task or the enclosing call was canceled.
    package static func check() throws {
        try Task.checkCancellation()
        if current?.isCancelled == true { throw CancellationError() }
    }
}

/// Runs an operation. Canceling the task or the enclosing call runs `onCancel`, at most twice.
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

/// Runs code that does not observe ``CallCancellation`` in a separate task, so that it can be canceled.
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
