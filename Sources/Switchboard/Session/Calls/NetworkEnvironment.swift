import SwitchboardPlatform

/// Which servers an app talks to: ``qa``, ``staging``, ``production``, or one of your own.
///
/// ```swift
/// extension NetworkEnvironment { static let canary = NetworkEnvironment("canary") }
/// ```
public struct NetworkEnvironment: Hashable, Sendable, CustomStringConvertible {
    /// The name, compared exactly.
    public let name: String

    /// Makes an environment with a name of your own.
    public init(_ name: String) {
        self.name = name
    }

    /// For testers.
    public static let qa = NetworkEnvironment("qa")
    /// A rehearsal of production.
    public static let staging = NetworkEnvironment("staging")
    /// For users.
    public static let production = NetworkEnvironment("production")

    /// The name.
    public var description: String { name }
}

extension NetworkEnvironment {
    private static let processDefault = Protected(NetworkEnvironment.production)

    /// The environment in force here: that of the manager whose request is being made or sent, else that of
    /// ``withCurrent(_:operation:)``, else the process-wide ``default``.
    ///
    /// Every closure of an app that a call runs is run in the environment of its request: providers, interceptors,
    /// monitors, decoders, completions.
    public static var current: NetworkEnvironment {
        CallEnvironment.current?.environment ?? processDefault.value
    }

    /// The environment of code that names none. At first ``production``.
    public static var `default`: NetworkEnvironment {
        get { processDefault.value }
        set { processDefault.withLock { $0 = newValue } }
    }

    /// Runs an operation, and the tasks that it starts, in an environment.
    public static func withCurrent<Output>(
        _ environment: NetworkEnvironment, operation: () throws -> Output
    ) rethrows -> Output {
        try CallEnvironment(environment).run(operation)
    }

    /// Runs an operation, and the tasks that it starts, in an environment.
    public static func withCurrent<Output: Sendable>(
        _ environment: NetworkEnvironment, isolation: isolated (any Actor)? = #isolation,
        operation: () async throws -> Output
    ) async rethrows -> Output {
        try await CallEnvironment(environment).run(isolation: isolation, operation)
    }
}

extension NetworkRequest {
    /// The environment that the request was made for; nil when no manager made it. A request keeps it when the manager
    /// moves on. Setting it sets its ``RequestOptions/partition`` too.
    public var environment: NetworkEnvironment? {
        get { self[EnvironmentOption.self] }
        set {
            self[EnvironmentOption.self] = newValue
            options.partition = newValue?.name
        }
    }

    /// Sets the environment, and keeps a partition of the endpoint's own apart within it.
    mutating func enter(_ environment: NetworkEnvironment) {
        let own = options.partition
        self.environment = environment
        if let own { options.partition = "\(environment.name)/\(own)" }
    }
}

private enum EnvironmentOption: RequestOption {
    static let defaultValue: NetworkEnvironment? = nil
}
