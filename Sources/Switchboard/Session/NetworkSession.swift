/// Performs one HTTP exchange.
///
/// A session sends the request unchanged, with the fields that its transport adds (`Host`, `User-Agent`,
/// `Accept-Encoding` and the like). It returns the server's response, whatever its status. It follows no redirect,
/// retries nothing, stores no cookie and caches nothing; interceptors do that. `CurlSession` uses libcurl, and
/// ``FoundationSession`` URLSession. `StubSession` of SwitchboardMocks responds without a network:
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

    /// Refuses new requests. Requests in flight continue. Default: does nothing.
    func invalidate()

    /// Whether a router calls ``send(_:)`` in the caller's task, because it never waits. Default false.
    ///
    /// `Router.cancel()` cannot cancel its caller's task. A router therefore performs the exchanges of a custom session
    /// in a separate task, which it can cancel. That task costs two more thread switches for each exchange. If `send`
    /// of a session with true waits anyway, a canceled call does not end until `send` returns.
    var runsInCallersTask: Bool { get }
}

extension NetworkSession {
    /// Does nothing.
    public func invalidate() {}
    /// False.
    public var runsInCallersTask: Bool { false }
}
