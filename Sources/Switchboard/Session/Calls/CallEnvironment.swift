import SwitchboardPlatform

/// The environment of a call. The app's closures run in it, whichever thread calls them.
package struct CallEnvironment: Sendable {
    @TaskLocal package static var current: CallEnvironment?

    let environment: NetworkEnvironment
    /// Where a manager keeps its environment: within the call its routers stay in this one. Nil without a manager.
    private let source: Protected<NetworkEnvironment>?

    /// An environment that binds no manager.
    init(_ environment: NetworkEnvironment) {
        self.environment = environment
        source = nil
    }

    /// The environment of a call that begins here: that of the call around it if the same manager makes both, else the
    /// manager's at this moment. Without a manager it is that of the running code, nil when nothing sets one.
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

    /// This environment for code that runs when the call is over, and what that starts: it binds no manager.
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
    /// The environment for closures that concern the request after its call: its own, else that of the running code.
    var callEnvironment: CallEnvironment? { environment.map { CallEnvironment($0) } }

    /// The request with the closure that its session calls, on a thread of its own, bound to the environment in force.
    func inEnvironmentOfCall() -> NetworkRequest {
        guard let note = options.onBodySent, let current = CallEnvironment.current else { return self }
        var request = self
        request.options.onBodySent = { count in current.run { note(count) } }
        return request
    }
}
