/// An interceptor that states in the plan of a call what it would do.
package protocol ExplainedInterceptor: Sendable {
    /// Returns one line without secrets. It has no side effects.
    func explanation(of request: NetworkRequest) async -> String
}
