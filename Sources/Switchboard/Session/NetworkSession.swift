/// Performs one HTTP exchange.
///
/// A session sends the request as it is, with the fields that its transport adds (`Host`, `User-Agent`,
/// `Accept-Encoding` and the like), and returns what the server answers, whatever its status: it follows no
/// redirect, retries nothing, stores no cookie and caches nothing. All that is an ``Interceptor``'s work.
/// ``FoundationSession`` drives URLSession; `StubSession` of SwitchboardTesting answers without a network:
///
/// ```swift
/// let router = Router<MovieApi>(session: StubSession { _ in .json(#"{"page":1,"results":[]}"#) })
/// ```
///
/// A session of your own calls ``NetworkRequest/validate()`` first, throws ``NetworkError`` or `CancellationError`
/// only, returns when the whole body has arrived, and gives up at once when its task is cancelled.
public protocol NetworkSession: Sendable {
    /// Sends a request and waits for the whole response.
    ///
    /// - Throws: ``NetworkError`` when there is no complete response, `CancellationError` when the task was cancelled.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse
}
