/// Wraps a whole call. It receives the request before redirects, and the response that the call ends with.
///
/// It may change the request, answer without sending, send the request again, or change the response:
///
/// ```swift
/// struct Stamp: Interceptor {
///     func intercept(
///         _ request: NetworkRequest, next: Next
///     ) async throws -> NetworkResponse {
///         var request = request
///         request.headers["X-Stamp"] = "1"
///         return try await next(request)
///     }
/// }
/// ```
///
/// Interceptors run in the order in which they are listed: the first one receives the request first and the response
/// last. Interceptors behind a ``RetryPolicy`` receive each attempt. An ``ExchangeInterceptor`` receives each exchange;
/// a type may be both. One value serves all requests of its router concurrently, so keep state in an actor or behind a
/// lock. An object that is listed twice makes every call fail with ``NetworkError/Code/invalidRequest``.
public protocol Interceptor: Sendable {
    /// Handles one request.
    ///
    /// - Parameters:
    ///   - request: The request as the earlier interceptors left it.
    ///   - next: The rest of the chain, including the session. Calling it sends the request. Call it once, several
    ///     times, or never.
    /// - Returns: The response for the earlier interceptors.
    /// - Throws: ``NetworkError`` or `CancellationError`. A `URLError`, `EncodingError` or `DecodingError` reaches the
    ///   caller with the code for it, and any other error as ``NetworkError/Code/unknown``. The original error is
    ///   underneath.
    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse
}
