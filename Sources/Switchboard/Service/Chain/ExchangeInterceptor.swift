/// Wraps each exchange of a call: it runs behind redirects, once for each request that goes to a server.
///
/// List it in the `exchangeInterceptors` of a ``Router`` or ``NetworkManager``. They run in the order in which they are
/// listed, right before the session. `CookieInterceptor` is one: a cookie that a redirect sets is sent to its target.
public protocol ExchangeInterceptor: Sendable {
    /// Handles one exchange; see ``Interceptor/intercept(_:next:)``.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}
