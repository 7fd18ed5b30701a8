/// Wraps each exchange of a call. It runs behind redirects, once for each request that goes to a server. If the
/// connection turns out to be dead, the same request is sent again on a new one, and the interceptor does not run again.
///
/// List it in the `exchangeInterceptors` of a ``Router`` or ``NetworkManager``. Exchange interceptors run in the order
/// in which they are listed, directly before the session. `CookieInterceptor` is one: it sends a cookie that a redirect
/// sets to the target of that redirect.
public protocol ExchangeInterceptor: Sendable {
    /// Handles one exchange; see ``Interceptor/intercept(_:next:)``.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}
