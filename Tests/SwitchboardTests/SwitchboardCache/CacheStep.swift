import Switchboard

/// An exchange interceptor that runs a closure.
struct CacheStep: ExchangeInterceptor {
    let body: @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await body(request, next)
    }
}
