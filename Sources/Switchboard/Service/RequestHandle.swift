import SwitchboardPlatform

/// Cancels one request that was started with a completion.
///
/// Letting go of it does not cancel.
public final class RequestHandle: Sendable {
    private enum State: Sendable {
        case waiting, running(Task<Void, Never>), cancelled, over
    }

    private let state = Protected(State.waiting)

    /// Makes a handle that stands for no request yet. A fake ``NetworkRouter`` returns one.
    public init() {}

    /// Cancels the request. Its completion is called with ``NetworkError/Code/cancelled``; nothing happens when it was
    /// called already.
    public func cancel() {
        let task: Task<Void, Never>? = state.withLock { state in
            defer { if case .over = state {} else { state = .cancelled } }
            if case .running(let task) = state { return task }
            return nil
        }
        task?.cancel()
    }

    /// Whether ``cancel()`` came before the end.
    public var isCancelled: Bool {
        if case .cancelled = state.value { true } else { false }
    }

    /// Takes the task that performs the request; cancels it when the cancellation came first.
    package func run(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if case .waiting = state { state = .running(task) }
            if case .cancelled = state { return true }
            return false
        }
        if isCancelled { task.cancel() }
    }

    /// Marks the end; false when the cancellation came first.
    package func finish() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .over
            return true
        }
    }
}
