import Dispatch
import Foundation
import Switchboard
import SwitchboardPlatform

/// Makes one call at a time: a new one cancels the one before. For a screen that loads as its user types or taps.
///
/// ```swift
/// final class Search {
///     let latest = LatestCall<MoviePage>()
///
///     func films(_ text: String) async throws -> MoviePage {
///         try await latest.value { try await router.request(.search(text), as: MoviePage.self) }
///     }
/// }
/// ```
///
/// The one before ends with a `CancellationError`, even when its value had arrived: what a newer call replaced is never
/// delivered. Letting go of a `LatestCall` cancels nothing; ``cancel()`` does.
public final class LatestCall<Value: Sendable>: Sendable {
    private struct State {
        var number = 0
        var cancel: (@Sendable () -> Void)?
    }

    private let state = Protected(State())

    /// Makes one without a call.
    public init() {}

    /// Makes a call, after it has cancelled the one before.
    ///
    /// - Parameters:
    ///   - isolation: Where the caller runs, which asks there whether a newer one has come.
    ///   - operation: The call.
    /// - Returns: What it brings.
    /// - Throws: What it throws; `CancellationError` when a newer one came, or ``cancel()``, or the task was cancelled.
    public func value(
        isolation: isolated (any Actor)? = #isolation, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        // In its place before it begins: what it does first may be to ask for a newer one.
        let number = replace()
        let task = Task { try await operation() }
        place({ task.cancel() }, at: number)
        let result = await withTaskCancellationHandler(
            operation: { await task.result }, onCancel: { task.cancel() })
        guard finish(number) else { throw CancellationError() }
        try Task.checkCancellation()
        return try result.get()
    }

    /// Makes a call, after it has cancelled the one before, and calls back once.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - actor: `MainActor.self`: start it there too.
    ///   - completion: Gets `NetworkError.Code.cancelled` when a newer one came.
    /// - Returns: What cancels this call.
    @discardableResult
    public func start(
        _ call: NetworkCall<Value>, on actor: MainActor.Type,
        completion: @escaping @MainActor @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        begin { call.start(on: actor, completion: completion) }
    }

    /// Makes a call, after it has cancelled the one before, and calls back once.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - queue: Where the completion is called: a serial queue on which it is started too, `.main` for instance.
    ///   - completion: Gets `NetworkError.Code.cancelled` when a newer one came.
    /// - Returns: What cancels this call.
    @discardableResult
    public func start(
        _ call: NetworkCall<Value>, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        begin { call.start(on: queue, completion: completion) }
    }

    /// Cancels the call under way, if there is one.
    public func cancel() {
        _ = replace()
    }

    private func begin(_ start: () -> RequestHandle) -> RequestHandle {
        let number = replace()
        let handle = start()
        place({ handle.cancel() }, at: number)
        return handle
    }

    /// Cancels the call before, and gives the next one its number.
    private func replace() -> Int {
        let (number, before) = state.withLock { state in
            let before = state.cancel
            state.number += 1
            state.cancel = nil
            return (state.number, before)
        }
        before?()
        return number
    }

    /// Takes what cancels a call that has begun; cancels it when a newer one has come meanwhile.
    private func place(_ cancel: @escaping @Sendable () -> Void, at number: Int) {
        let isLatest = state.withLock { state in
            if state.number == number { state.cancel = cancel }
            return state.number == number
        }
        if !isLatest { cancel() }
    }

    /// Whether no newer one has come; then it is over.
    private func finish(_ number: Int) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.cancel = nil
            return true
        }
    }
}
