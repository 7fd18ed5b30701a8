import SwitchboardPlatform

/// The environment of a call. The app's closures run in it on every thread.
package struct CallEnvironment: Sendable {
    @TaskLocal package static var current: CallEnvironment?

    let environment: NetworkEnvironment
    /// The storage of the manager's environment, or nil without a manager. It identifies the manager.
    private let source: Protected<NetworkEnvironment>?

    /// Creates an environment that is not bound to a manager.
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
    package var detached: CallEnvironment { CallEnvironment(environment) }

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
        return current.environment == environment && (source == nil || current.source?.identity == source?.identity)
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

/// A set of servers for an app: ``qa``, ``staging``, ``production`` or a custom environment.
///
/// ```swift
/// extension NetworkEnvironment {
///     static let canary = NetworkEnvironment("canary")
/// }
/// ```
public struct NetworkEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// The name, compared exactly.
    public let name: String

    /// Creates an environment with any name.
    public init(_ name: String) {
        self.name = name
    }

    /// The servers for testers.
    public static let qa = NetworkEnvironment("qa")
    /// The servers for rehearsals of production.
    public static let staging = NetworkEnvironment("staging")
    /// The servers for users.
    public static let production = NetworkEnvironment("production")

    /// The name.
    public var description: String { name }
}

extension NetworkEnvironment {
    private static let processDefault = Protected(NetworkEnvironment.production)

    /// The environment of the running code: that of the manager that sends the current request, or that of
    /// ``withCurrent(_:operation:)``, or the process-wide ``default``.
    ///
    /// A call runs all closures of an app in the environment of its request: providers, interceptors, monitors,
    /// decoders and completions.
    public static var current: NetworkEnvironment {
        CallEnvironment.current?.environment ?? processDefault.value
    }

    /// The process-wide environment, used when no other is set. Initially ``production``.
    public static var `default`: NetworkEnvironment {
        get { processDefault.value }
        set { processDefault.withLock { $0 = newValue } }
    }

    /// Runs an operation and the tasks that it starts in an environment.
    public static func withCurrent<Output>(
        _ environment: NetworkEnvironment, operation: () throws -> Output
    ) rethrows -> Output {
        try CallEnvironment(environment).run(operation)
    }

    /// Runs an operation and the tasks that it starts in an environment.
    public static func withCurrent<Output>(
        _ environment: NetworkEnvironment, isolation: isolated (any Actor)? = #isolation,
        operation: () async throws -> Output
    ) async rethrows -> Output {
        try await CallEnvironment(environment).run(isolation: isolation, operation)
    }
}

extension NetworkRequest {
    /// The environment for which the request was made, or nil if no manager made it. It stays the same when the manager
    /// changes its environment. Setting it also sets ``RequestOptions/partition``.
    public var environment: NetworkEnvironment? {
        get { self[EnvironmentOption.self] }
        set {
            self[EnvironmentOption.self] = newValue
            options.partition = newValue?.name
        }
    }

    /// Sets the environment. The endpoint's own partition becomes a partition inside it.
    mutating func enter(_ environment: NetworkEnvironment) {
        let own = options.partition
        self.environment = environment
        if let own { options.partition = "\(environment.name)/\(own)" }
    }
}

private enum EnvironmentOption: RequestOption {
    static let defaultValue: NetworkEnvironment? = nil
}
