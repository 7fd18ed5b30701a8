import SwitchboardPlatform

/// The environment of a call. The app's closures run in it on every thread.
package struct CallEnvironment: Sendable {
    @TaskLocal package static var current: CallEnvironment?

    let environment: NetworkEnvironment
    /// The storage of the manager's environment, or nil without a manager. It identifies the manager.
    private let source: Protected<NetworkEnvironment>?
    /// Whether the code runs after the call, so that its manager's environment applies to new calls.
    private var isDetached = false

    init(_ environment: NetworkEnvironment) {
        self.environment = environment
        source = nil
    }

    /// Creates the environment of a new call: that of the current call if the same manager made it, or else the
    /// manager's environment. Without a manager, it is the environment of the running code, or nil if none is set.
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

    /// The same environment without a manager, for code that runs after the call.
    package var detached: CallEnvironment {
        var detached = CallEnvironment(environment)
        detached.isDetached = true
        return detached
    }

    package func run<Output>(_ operation: () throws -> Output) rethrows -> Output {
        guard !isCurrent else { return try operation() }
        return try Self.$current.withValue(self, operation: operation)
    }

    package func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard !isCurrent else { return try await operation() }
        return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
    }

    private var isCurrent: Bool {
        guard let current = Self.current else { return false }
        return current.environment == environment
            && (source == nil && !isDetached || current.source?.identity == source?.identity)
    }
}

extension Optional where Wrapped == CallEnvironment {
    @inline(__always)
    package func run<Output>(_ operation: () throws -> Output) rethrows -> Output {
        guard let self else { return try operation() }
        return try self.run(operation)
    }

    @inline(__always)
    package func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard let self else { return try await operation() }
        return try await self.run(isolation: isolation, operation)
    }
}

extension NetworkRequest {
    /// The environment for closures that run after the call. Nil for a request without one.
    package var callEnvironment: CallEnvironment? { environment.map { CallEnvironment($0) } }

    /// Returns the request with ``RequestOptions/onBodySent`` bound to the current environment, because its session
    /// calls that closure on another thread.
    func inEnvironmentOfCall() -> NetworkRequest {
        guard let onBodySent = options.onBodySent, let current = CallEnvironment.current else { return self }
        var request = self
        request.options.onBodySent = { count in current.run { onBodySent(count) } }
        return request
    }
}
