/// A router whose `cancel()` also reaches what a call does between two of its requests: the waits of a download, an upload
/// in pieces, or a stream of events.
protocol CallHolder {
    /// Runs an operation as one call: its requests and waits end with the router's `cancel()`.
    func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output
    /// The environment of a call that begins at this moment.
    var callEnvironment: CallEnvironment? { get }
    /// The policy of its chain; nil without one.
    var retryPolicy: RetryPolicy? { get }
}

extension NetworkRouter {
    /// Runs an operation as one call, where the router can; a fake of an app cannot.
    package func held<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        guard let holder = self as? any CallHolder else { return try await operation() }
        return try await holder.hold(operation)
    }

    /// The environment of a call that begins at this moment.
    package var environmentNow: CallEnvironment? {
        guard let holder = self as? any CallHolder else { return CallEnvironment.current }
        return holder.callEnvironment
    }
}
