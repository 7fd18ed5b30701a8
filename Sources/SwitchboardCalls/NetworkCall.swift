import Dispatch
import Foundation
import Switchboard

/// A call that has not been made yet, as a value: to be combined with others, and to be made as often as one likes.
///
/// ```swift
/// let titles = router.call(.newMovies(page: 1), as: Movie.self)
///     .flatMap { movie in router.call(.recommended(id: movie.id), as: [Movie].self) }
///     .map { $0.map(\.title) }
/// print(try await titles.value)
/// ```
///
/// Nothing is sent until somebody asks for the ``value``, starts it, or subscribes to its publisher, and everything is sent
/// anew the next time. A combination is cancelled as a whole: its parts under way end with it. When one part fails, the
/// others are cancelled, and the first failure is that of the whole.
public struct NetworkCall<Value: Sendable>: Sendable {
    private let last: CallStep
    /// The environment that it is made in, asked for when it is made.
    let environment: @Sendable () -> CallEnvironment?

    /// Makes a call of any operation: one with two requests of a service, for instance.
    public init(_ operation: @escaping @Sendable () async throws -> Value) {
        self.init(in: { CallEnvironment.current }, operation)
    }

    init(
        in environment: @escaping @Sendable () -> CallEnvironment?,
        _ operation: @escaping @Sendable () async throws -> Value
    ) {
        self.init(environment, CallStep(.around { _ in try await operation() }))
    }

    private init(_ environment: @escaping @Sendable () -> CallEnvironment?, _ last: CallStep) {
        self.last = last
        self.environment = environment
    }

    /// Makes the call and gives what it brings.
    ///
    /// - Throws: `NetworkError`; `CancellationError` when the task was cancelled, or the router of one of its parts;
    ///   and what a transform throws.
    public var value: Value {
        get async throws {
            try CallCancellation.check()
            return try Self.cast(try await environment().run { try await last.value() })
        }
    }

    /// This call, then a step that makes another value of its value.
    func then<Output: Sendable>(
        _ step: @escaping @Sendable (Value) async throws -> Output
    ) -> NetworkCall<Output> {
        NetworkCall<Output>(environment, CallStep(.after { try await step(try Self.cast($0)) }, after: last))
    }

    /// A call that makes this one within it.
    func within<Output: Sendable>(
        _ step: @escaping @Sendable (NetworkCall) async throws -> Output
    ) -> NetworkCall<Output> {
        let around: @Sendable (CallStep?) async throws -> any Sendable = { [environment] before in
            guard let before else { throw NetworkError(.unknown, reason: "a call has no first step") }
            return try await step(NetworkCall(environment, before))
        }
        return NetworkCall<Output>(environment, CallStep(.around(around), after: last))
    }

    private static func cast(_ value: any Sendable) throws(NetworkError) -> Value {
        guard let value = value as? Value else {
            throw NetworkError(.unknown, reason: "a step gave a \(type(of: value)) for a \(Value.self)")
        }
        return value
    }

    /// Makes the call and calls back once.
    ///
    /// - Parameters:
    ///   - queue: Where the completion is called. Nil, the default, for no queue in particular.
    ///   - completion: Gets `NetworkError.Code.cancelled` after a cancellation, even when the value was there already.
    /// - Returns: What cancels this call.
    @discardableResult
    public func start(
        on queue: DispatchQueue? = nil, completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in
            if let queue { queue.async { deliver { completion($0) } } } else { deliver { completion($0) } }
        }
    }

    /// Makes the call and calls back once, on the main actor.
    ///
    /// - Parameters:
    ///   - actor: `MainActor.self`.
    ///   - completion: Gets `NetworkError.Code.cancelled` after a cancellation, even when the value was there already.
    /// - Returns: What cancels this call.
    @discardableResult
    public func start(
        on actor: MainActor.Type, completion: @escaping @MainActor @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in await MainActor.run { deliver { result in completion(result) } } }
    }

    /// Makes the call and calls back once, on an actor.
    ///
    /// - Parameters:
    ///   - actor: Where the completion is called.
    ///   - completion: Gets the actor, and `NetworkError.Code.cancelled` after a cancellation, even when the value was
    ///     there already.
    /// - Returns: What cancels this call.
    @discardableResult
    public func start<Place: Actor>(
        on actor: Place, completion: @escaping @Sendable (isolated Place, Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        start { deliver in await Self.call(completion, on: actor, with: deliver) }
    }

    private static func call<Place: Actor>(
        _ completion: @escaping @Sendable (isolated Place, Result<Value, NetworkError>) -> Void,
        on actor: isolated Place,
        with deliver: Deliver
    ) {
        deliver { completion(actor, $0) }
    }

    /// Calls a completion with how the call ended, in the call's environment.
    private typealias Deliver = @Sendable (_ completion: (Result<Value, NetworkError>) -> Void) -> Void

    /// Starts it. `hand` calls the completion by what it is given: asked at the very place, so that nobody gets a value
    /// after having cancelled there.
    private func start(_ hand: @escaping @Sendable (_ deliver: @escaping Deliver) async -> Void) -> RequestHandle {
        let handle = RequestHandle()
        let task = Task {
            let environment = environment()
            let result: Result<Value, NetworkError>
            do {
                result = .success(try await environment.run { try await value })
            } catch {
                result = .failure(NetworkError.completion(error))
            }
            await hand { completion in
                let outcome = handle.finish() ? result : .failure(NetworkError(.cancelled))
                (environment?.afterwards).run { completion(outcome) }
            }
        }
        handle.run(task)
        return handle
    }
}
