/// Performs one HTTP exchange.
///
/// A session sends the request as it is, with the fields that its transport adds (`Host`, `User-Agent`,
/// `Accept-Encoding` and the like). It returns the server's response, whatever its status. It follows no redirect,
/// retries nothing, stores no cookie and caches nothing; an ``Interceptor`` does all that. ``FoundationSession`` uses
/// URLSession. `StubSession` of SwitchboardTesting responds without a network:
///
/// ```swift
/// import SwitchboardMocks
///
/// let session = StubSession { _ in
///     .json(#"{"page":1,"results":[]}"#)
/// }
/// let router = Router<MovieApi>(session: session)
/// ```
///
/// A custom session calls ``NetworkRequest/validate()`` first, and throws only ``NetworkError`` or `CancellationError`.
/// It returns when the whole body has arrived, and stops at once when its task is canceled.
public protocol NetworkSession: Sendable {
    /// Sends a request and waits for the whole response.
    ///
    /// - Throws: ``NetworkError`` when no complete response arrived, `CancellationError` when the task was canceled.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse
}
