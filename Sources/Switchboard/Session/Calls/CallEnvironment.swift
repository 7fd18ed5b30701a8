import SwitchboardPlatform

/// The environment of a call. The app's closures run in it on every thread.
package struct CallEnvironment: Sendable {
    @TaskLocal package static var current: CallEnvironment?

    let environment: NetworkEnvironment
    /// The storage of the manager's environment. The manager's routers stay in this environment during the call. Nil
    /// without a manager.
    private let source: Protected<NetworkEnvironment>?

    /// Creates an environment that is not bound to a manager.
    init(_ environment: NetworkEnvironment) {
        self.environment = environment
        source = nil
    }

    /// Creates the environment of a call that starts here. If the same manager made the enclosing call, it is that
    /// call's environment, or else the manager's current one. Without a manager it is the environment of the running
    /// code. Nil if none is set.
    init?(startingIn source: Protected<NetworkEnvironment>?) {
        if let current = Self.current, source == nil || current.source?.identity == source?.identity {
            self = current
        } else if let source {
            environment = source.value
            self.source = source
        } else {
            return nil
        }
    }

    /// This environment for code that runs after the call, and for tasks that it starts. It is not bound to a manager.
    package var afterwards: CallEnvironment { CallEnvironment(environment) }

    package func run<Output>(_ operation: () throws -> Output) rethrows -> Output {
        guard !isInForce else { return try operation() }
        return try Self.$current.withValue(self, operation: operation)
    }

    package func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard !isInForce else { return try await operation() }
        return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
    }

    private var isInForce: Bool {
        guard let current = Self.current else { return false }
        return current.environment == environment && (source == nil || current.source?.identity == source?.identity)
    }
}

extension Optional where Wrapped == CallEnvironment {
    package func run<Output>(_ operation: () throws -> Output) rethrows -> Output {
        guard let self else { return try operation() }
        return try self.run(operation)
    }

    package func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard let self else { return try await operation() }
        return try await self.run(isolation: isolation, operation)
    }
}

extension NetworkRequest {
    /// The environment for closures that run after the request's call: the request's own, or else that of the running
    /// code.
    package var callEnvironment: CallEnvironment? { environment.map { CallEnvironment($0) } }

    /// Returns the request with ``RequestOptions/onBodySent`` bound to the current environment, because its session
    /// calls that closure on another thread.
    func inEnvironmentOfCall() -> NetworkRequest {
        guard let note = options.onBodySent, let current = CallEnvironment.current else { return self }
        var request = self
        request.options.onBodySent = { count in current.run { note(count) } }
        return request
    }
}
