/// Wraps a whole call: it sees the request once, before redirects, and the response that the call ends with.
///
/// It may change the request, answer by itself, send the request again, or change the response:
///
/// ```swift
/// struct Stamp: Interceptor {
///     func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
///         var request = request
///         request.headers["X-Stamp"] = "1"
///         return try await next(request)
///     }
/// }
/// ```
///
/// Interceptors run in the order in which they are listed: the first one sees the request first and the response last.
/// Those behind a ``RetryPolicy`` see each attempt. An ``ExchangeInterceptor`` sees each exchange; a type may be both.
/// One value serves all requests of its router at once, so keep state in an actor or behind a lock. An object that is
/// listed twice ends every call with ``NetworkError/Code/invalidRequest``.
public protocol Interceptor: Sendable {
    /// Handles one request.
    ///
    /// - Parameters:
    ///   - request: The request as the interceptors before left it.
    ///   - next: The rest of the chain and the session. Calling it sends; it may be called never, once, or again.
    /// - Returns: The response for the interceptors before.
    /// - Throws: ``NetworkError`` or `CancellationError`; anything else reaches the caller as
    ///   ``NetworkError/Code/unknown``, with the error underneath.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}
