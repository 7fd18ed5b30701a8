import SwitchboardPlatform

/// A set of servers for an app: ``qa``, ``staging``, ``production`` or a custom environment.
///
/// ```swift
/// extension NetworkEnvironment {
///     static let canary = NetworkEnvironment("canary")
/// }
/// ```
public struct NetworkEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// The name. Two names are equal if their texts are, in any Unicode form. It should contain no slash, which
    /// separates it from the endpoint's own partition in ``RequestOptions/partition``: `production/anna`.
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

    // MARK: Current environment

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
