import SwitchboardPlatform

/// Cancels one request that was started with a completion.
///
/// Releasing the handle does not cancel the request.
public final class RequestHandle: Sendable {
    private enum State: Sendable {
        case waiting, running(Task<Void, Never>), cancelled, over
    }

    private let state = Protected(State.waiting)

    /// Creates a handle without a request, for a fake ``NetworkRouter``.
    public init() {}

    /// Cancels the request. Its completion receives ``NetworkError/Code/cancelled``, at once if the code that the call
    /// waits for observes cancellation. Does nothing after the completion.
    public func cancel() {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { if case .over = state {} else { state = .cancelled } }
            if case .running(let task) = state { return task }
            return nil
        }
        task?.cancel()
    }

    /// Whether ``cancel()`` was called before the request ended.
    public var isCancelled: Bool {
        if case .cancelled = state.value { true } else { false }
    }

    /// Sets the task that performs the request. Cancels the task if the handle was canceled before.
    package func run(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if case .waiting = state { state = .running(task) }
            if case .cancelled = state { return true }
            return false
        }
        if isCancelled { task.cancel() }
    }

    /// Marks the request as ended. Returns false if it was canceled before.
    package func finish() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .over
            return true
        }
    }
}
