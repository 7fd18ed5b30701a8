/// Performs one HTTP exchange.
///
/// A session sends the request unchanged, with the fields that its transport adds (`Host`, `User-Agent`,
/// `Accept-Encoding` and the like). A request with a `Range` accepts only `identity`, because compressed bytes can be
/// decoded only from their start. The session returns the server's response, whatever its status. It follows no
/// redirect, retries nothing, stores no cookie and caches nothing; interceptors do that. `CurlSession` uses libcurl,
/// and ``FoundationSession`` URLSession. `StubSession` of SwitchboardMocks responds without a network:
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

    /// Whether a router calls ``send(_:)`` in the caller's task, which `Router.cancel()` cannot cancel. Default false.
    ///
    /// Return true only if `send` never waits, as in a mock: a canceled call does not end until `send` returns. With
    /// false, the router calls `send` in a separate task, which costs two thread switches for each exchange.
    var runsInCallersTask: Bool { get }
}

extension NetworkSession {
    /// Does nothing.
    public func invalidate() {}
    /// False.
    public var runsInCallersTask: Bool { false }
}
