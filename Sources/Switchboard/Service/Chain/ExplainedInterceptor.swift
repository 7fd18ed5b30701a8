/// An interceptor that states in the plan of a call what it would do.
package protocol ExplainedInterceptor: Sendable {
    /// Returns one line without secrets. It has no side effects.
    ///
    /// - Parameters:
    ///   - request: The request that the interceptor receives.
    ///   - sent: The request as the adapters behind it would send it.
    /// - Returns: The line.
    func explanation(of request: NetworkRequest, sentAs sent: NetworkRequest) async -> String
}
