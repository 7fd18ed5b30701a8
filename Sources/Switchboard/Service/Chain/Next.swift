/// The rest of the chain after an interceptor, including the session.
public struct Next: Sendable {
    private let chain: InterceptorChain
    private let index: Int

    init(_ chain: InterceptorChain, _ index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Sends a request through the rest of the chain.
    public func callAsFunction(_ request: NetworkRequest) async throws -> NetworkResponse {
        try await chain.send(request, from: index)
    }
}
