import Dispatch
import Foundation
import Switchboard

/// A call as a value: combine it with others, and make it any number of times.
///
/// ```swift
/// let titles = router.call(for: .newMovies(page: 1), as: Movie.self)
///     .flatMap { movie in
///         router.call(for: .recommended(id: movie.id), as: [Movie].self)
///     }
///     .map { $0.map(\.title) }
/// print(try await titles.value)
/// ```
///
/// It sends nothing until the app reads its ``value``, starts it, or subscribes to its publisher. Each of these sends
/// all requests again. Canceling a combination cancels all of its parts in flight. When one part fails, the others are
/// canceled, and the combination throws the first failure. A started call belongs to the router of its first request,
/// whose `cancel()` and `reset()` cancel it until its completion returns.
public struct NetworkCall<Value>: Sendable {
    private let last: CallStep
    /// The calls of the router that sends the first request. Nil for a call of any operation.
    let router: RouterCalls?

    /// Creates a call from any operation, for instance one that sends two requests. In code of the main actor, the
    /// operation runs there.
    public init(@_inheritActorContext _ operation: @escaping @Sendable () async throws -> Value)
    where Value: Sendable {
        self.init(of: nil) { Transferred(try await operation()) }
    }

    init(of router: RouterCalls?, _ operation: @escaping @Sendable () async throws -> Transferred<Value>) {
        self.init(router, CallStep(.around { _ in try await operation() }))
    }

    private init(_ router: RouterCalls?, _ last: CallStep) {
        self.last = last
        self.router = router
    }

    /// The environment of the call if it is made now.
    private var environment: CallEnvironment? { router?.currentEnvironment ?? CallEnvironment.current }

    /// The value of the call. Each read makes the call.
    ///
    /// - Throws: `NetworkError`, or the error of a transform. `CancellationError` when the task or the router of a part
    ///   was canceled.
    public var value: Value {
        get async throws {
            try Call.check()
            return try Self.cast(try await environment.run { try await last.value() }).value
        }
    }

    /// Returns a call that transforms this call's value.
    func then<Output: Sendable>(
        _ step: @escaping @Sendable (Value) async throws -> Output
    ) -> NetworkCall<Output> {
        let after: @Sendable (any Sendable) async throws -> any Sendable = { value in
            Transferred(try await step(try Self.cast(value).value))
        }
        return NetworkCall<Output>(router, CallStep(.after(after), after: last))
    }

    func within<Output: Sendable>(
        _ step: @escaping @Sendable (NetworkCall) async throws -> Output
    ) -> NetworkCall<Output> {
        let around: @Sendable (CallStep?) async throws -> any Sendable = { [router] before in
            guard let before else { throw NetworkError(.unknown, reason: "a call has no first step") }
            return Transferred(try await step(NetworkCall(router, before)))
        }
        return NetworkCall<Output>(router, CallStep(.around(around), after: last))
    }

    private static func cast(_ value: any Sendable) throws(NetworkError) -> Transferred<Value> {
        guard let value = value as? Transferred<Value> else {
            throw NetworkError(.unknown, reason: "a step gave a \(type(of: value)) for a \(Value.self)")
        }
        return value
    }

    /// Makes the call, and calls `completion` once.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the completion is called. Nil, the default, means no particular queue.
    ///   - completion: Receives the result, or `NetworkError.Code.cancelled` after a cancellation, even if the value
    ///     has arrived.
    /// - Returns: The handle that cancels this call.
    @discardableResult
    public func start(
        on queue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in
            if let queue { queue.async { deliver { completion($0) } } } else { deliver { completion($0) } }
        }
    }

    /// Makes the call, and calls `completion` once on the main actor.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.self`.
    ///   - completion: Receives the result, or `NetworkError.Code.cancelled` after a cancellation, even if the value
    ///     has arrived.
    /// - Returns: The handle that cancels this call.
    @discardableResult
    public func start(
        on actor: MainActor.Type, completion: @escaping @MainActor @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in await MainActor.run { deliver { result in completion(result) } } }
    }

    /// Makes the call, and calls `completion` once on an actor.
    ///
    /// - Parameters:
    ///   - actor: The actor on which the completion is called.
    ///   - completion: Receives the actor and the result, or `NetworkError.Code.cancelled` after a cancellation, even
    ///     if the value has arrived.
    /// - Returns: The handle that cancels this call.
    @discardableResult
    public func start<Target: Actor>(
        on actor: Target, completion: @escaping @Sendable (isolated Target, Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in await Self.call(completion, on: actor, with: deliver) }
    }

    private static func call<Target: Actor>(
        _ completion: @escaping @Sendable (isolated Target, Result<Value, NetworkError>) -> Void,
        on actor: isolated Target, with deliver: Deliver
    ) {
        deliver { completion(actor, $0) }
    }

    /// Calls a completion with the result, in the call's environment.
    private typealias Deliver = @Sendable (_ completion: (Result<Value, NetworkError>) -> Void) -> Void

    /// Starts the call. `dispatch` runs `deliver` on the queue or actor of the completion. `deliver` checks for a
    /// cancellation there, so that a caller that canceled before receives no value.
    private func start(_ dispatch: @escaping @Sendable (_ deliver: @escaping Deliver) async -> Void) -> RequestHandle {
        let handle = RequestHandle()
        let environment = environment
        let begun = router?.begin(handle)
        let task = Task {
            let result: Transferred<Result<Value, NetworkError>>
            do {
                try begun?.added.get()
                result = Transferred(.success(try await environment.run { try await make(as: begun?.call) }))
            } catch {
                result = Transferred(.failure(NetworkError.caught(error)))
            }
            await dispatch { completion in
                let outcome = handle.finish() ? result.value : .failure(NetworkError(.cancelled))
                (environment?.detached).run { completion(outcome) }
                if let begun { router?.remove(begun.call) }
            }
        }
        handle.run(task)
        return handle
    }

    private func make(as call: Call?) async throws -> Value {
        guard let call else { return try await value }
        return try await call.run { try await value }
    }
}
