/// A router whose `cancel()` also ends the work between two requests of a call: the waits of a download, an upload in
/// pieces, or a stream of events.
protocol CallHolder {
    /// Runs an operation as one call: the router's `cancel()` ends its requests and waits.
    func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output
    /// The environment of a call that begins now.
    var callEnvironment: CallEnvironment? { get }
    /// The retry policy of the router's chain, or nil without one.
    var retryPolicy: RetryPolicy? { get }
}

extension NetworkRouter {
    /// Runs an operation as one call if the router supports that. A fake router of an app runs it directly.
    package func held<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        guard let holder = self as? any CallHolder else { return try await operation() }
        return try await holder.hold(operation)
    }

    /// The environment of a call that begins now.
    package var environmentNow: CallEnvironment? {
        guard let holder = self as? any CallHolder else { return CallEnvironment.current }
        return holder.callEnvironment
    }
}
