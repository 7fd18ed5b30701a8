import Dispatch
import Foundation
import Switchboard
import SwitchboardPlatform

/// Makes one call at a time: a new call cancels the previous one. Use it for a screen that loads while its user types
/// or taps.
///
/// ```swift
/// final class Search {
///     let latest = LatestCall<MoviePage>()
///
///     func films(_ text: String) async throws -> MoviePage {
///         try await latest.value {
///             try await router.request(.search(text), as: MoviePage.self)
///         }
///     }
/// }
/// ```
///
/// A superseded call throws `CancellationError` and never delivers its value, even if the value has arrived. Releasing
/// a `LatestCall` cancels nothing; ``cancel()`` does.
public final class LatestCall<Value: Sendable>: Sendable {
    private struct State {
        var number = 0
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Protected(State())

    /// Creates an instance without a call.
    public init() {}

    /// Cancels the previous call, and makes a new one.
    ///
    /// - Parameters:
    ///   - isolation: The caller's actor, which checks whether a newer call has superseded this one.
    ///   - operation: The call. It stays on the caller's actor.
    /// - Returns: The value of the operation.
    /// - Throws: The error of the operation. `CancellationError` when a newer call or ``cancel()`` superseded it, or
    ///   when the task was canceled.
    public func value(
        isolation: isolated (any Actor)? = #isolation, _ operation: @escaping () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        // Supersedes the previous call before the operation starts, which may start a newer call.
        let number = replace()
        nonisolated(unsafe) let operation = operation  // called once, while the caller waits
        let task = Task { try await operation() }
        store({ task.cancel() }, for: number)
        let result = await withTaskCancellationHandler(
            operation: { await task.result }, onCancel: { task.cancel() })
        guard finish(number) else { throw CancellationError() }
        try Task.checkCancellation()
        return try result.get()
    }

    /// Cancels the previous call, makes a new one, and calls `completion` once.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - actor: `MainActor.self`. Call this function on the main actor too.
    ///   - completion: Receives the result, or `NetworkError.Code.cancelled` when a newer call superseded it.
    /// - Returns: The handle that cancels this call.
    @discardableResult
    public func start(
        _ call: NetworkCall<Value>, on actor: MainActor.Type,
        completion: @escaping @MainActor @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        begin { call.start(on: actor, completion: completion) }
    }

    /// Cancels the previous call, makes a new one, and calls `completion` once.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - queue: The serial queue on which the completion is called, such as `.main`. Call this function on it too.
    ///   - completion: Receives the result, or `NetworkError.Code.cancelled` when a newer call superseded it.
    /// - Returns: The handle that cancels this call.
    @discardableResult
    public func start(
        _ call: NetworkCall<Value>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        begin { call.start(on: queue, completion: completion) }
    }

    /// Cancels the call in flight, if any.
    public func cancel() {
        _ = replace()
    }

    private func begin(_ start: () -> RequestHandle) -> RequestHandle {
        let number = replace()
        let handle = start()
        store({ handle.cancel() }, for: number)
        return handle
    }

    /// Cancels the previous call, and returns the number of the next one.
    private func replace() -> Int {
        let (number, cancel) = state.withLock { state in
            state.number += 1
            defer { state.cancel = nil }
            return (state.number, state.cancel)
        }
        cancel?()
        return number
    }

    /// Stores the closure that cancels a call, or runs it if a newer call has superseded this one.
    private func store(_ cancel: @escaping @Sendable () -> Void, for number: Int) {
        let isLatest = state.withLock { state in
            if state.number == number { state.cancel = cancel }
            return state.number == number
        }
        if !isLatest { cancel() }
    }

    /// Returns whether no newer call has superseded this one, and marks it as finished.
    private func finish(_ number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.cancel = nil
            return true
        }
    }
}
