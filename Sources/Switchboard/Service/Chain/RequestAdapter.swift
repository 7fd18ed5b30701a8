/// An interceptor that only changes the request.
///
/// ``Router/explain(_:options:isolation:)`` calls ``adapt(_:)`` too, so that it shows the request as it would be sent.
///
/// ```swift
/// struct Stamp: Interceptor, RequestAdapter {
///     func adapt(_ request: inout NetworkRequest) async throws {
///         request.headers["X-Stamp"] = "1"
///     }
/// }
/// ```
public protocol RequestAdapter: Sendable {
    /// Changes a request before it is sent. An error that it throws ends the call.
    func adapt(_ request: inout NetworkRequest) async throws
}

extension RequestAdapter {
    /// Sends the request after ``adapt(_:)`` has changed it.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        try await adapt(&request)
        return try await next(request)
    }
}
