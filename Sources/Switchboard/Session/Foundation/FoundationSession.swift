import SwitchboardPlatform
import Foundation

/// Sends requests through one long-lived URLSession.
///
/// Create one session and keep it: its requests share connections that are kept alive. A router uses ``shared`` by
/// default on Apple platforms; on Linux it uses ``CurlSession``. A streamed body is first written to a temporary file,
/// and the request announces its length.
///
/// On Linux, this session works around defects of URLSession: it returns a 401 instead of waiting, supports timeouts
/// with fractions of a second, leaves redirects to the interceptor chain, and resends the whole body on a new
/// connection. These defects remain on Linux:
/// - If the kept-alive connections of a request are dead, URLSession sends it up to six times, even if it is not
///   idempotent. The history does not show these attempts.
/// - A body in an unknown `Content-Encoding` fails with ``NetworkError/Code/cannotDecodeResponse``.
/// - With libcurl before 7.87, SIGPIPE ends the process, unless the program ignores that signal.
/// - A response with trailers, or a connection closed inside the response's head, ends the *process* (a trap in
///   Foundation before 6.4). So does a `Content-Length` of 9223372036854775807.
/// - A redirect without a `Location` loses its body and fails with ``NetworkError/Code/truncatedBody``.
/// - Repeated response headers arrive joined by commas, except `Set-Cookie`.
///
/// On Apple's systems, URLSession joins repeated response headers too, and it may resend an idempotent request on a new
/// connection without a record in the history. A body without a `Content-Type` is sent as `application/octet-stream`,
/// because URLSession would send it as a form. In a `multipart/x-mixed-replace` response, this session restores the
/// boundaries, which URLSession removes, and the fields of each part that URLSession reports.
public final class FoundationSession: NetworkSession {
    /// The session that routers and managers share by default on Apple platforms.
    public static let shared = FoundationSession()

    private let urlSession: URLSession
    private let unsupported: String?
    private let delegate = FoundationSessionDelegate()
    /// Locked while a task is created, because URLSession traps when a task is created after invalidation.
    private let isInvalidated = Protected(false)
    /// Ends exchanges and handshakes whose deadline has passed.
    package let deadlines = DeadlineSweeper()

    /// Creates a session with separate connections.
    public init(configuration: SessionConfiguration = SessionConfiguration()) {
        unsupported = configuration.unsupportedByURLSession
        urlSession = URLSession(
            configuration: configuration.urlSessionConfiguration, delegate: delegate,
            delegateQueue: URLSessionQuirks.makeDelegateQueue())
    }

    deinit {
        urlSession.finishTasksAndInvalidate()
    }

    /// Sends a request and waits for the whole response. For a streamed response, it waits only for the head.
    ///
    /// - Throws: ``NetworkError`` when no complete response arrived. `CancellationError` when the task was canceled;
    ///   the connection is then closed.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        let request = try request.encodedAndValidated()
        do {
            return try await exchange(request)
        } catch let error as NetworkError {
            throw error.attributed(to: request).asOfflineError(to: request.url)
        }
    }

    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        if let unsupported {
            throw NetworkError(.unsupported, reason: "FoundationSession does not support \(unsupported)")
        }
        if let upgrade = request.options.upgrade { return try await upgrade.openByURLSession(request, self) }
        let begin = (SuspendingClock.now, Date())
        let payload = try await RequestPayload(request.body, within: request.timeouts)
        let urlRequest = try URLRequest(request, payload: payload)
        let exchange = FoundationExchange(request, payload: payload, deadlines, start: begin)
        do {
            let response = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard exchange.begin(continuation) else { return }
                    start(exchange, urlRequest)
                }
            } onCancel: {
                exchange.cancel()
            }
            // A streamed response keeps its deadlines until its end.
            if response.stream == nil { deadlines.remove(exchange) }
            return response
        } catch {
            deadlines.remove(exchange)
            throw error
        }
    }

    /// Refuses new requests. Requests in flight continue.
    ///
    /// A later request fails with ``NetworkError/Code/sessionInvalidated``. Does nothing on ``shared``, because other
    /// code uses it too.
    public func invalidate() {
        guard self !== Self.shared else { return }
        isInvalidated.withLock { isInvalidated in
            guard !isInvalidated else { return }
            isInvalidated = true
            urlSession.finishTasksAndInvalidate()
        }
    }

    func start(_ exchange: FoundationExchange, _ urlRequest: URLRequest) {
        guard let task = makeTask({ $0.dataTask(with: urlRequest) }) else {
            return exchange.fail(NetworkError(.sessionInvalidated))
        }
        delegate.register(exchange, for: task)
        if exchange.attach(task) {
            deadlines.add(exchange)
            task.resume()
        } else {
            // The exchange was canceled before the task was attached.
            exchange.cancelTask(isNew: true)
        }
    }

    package func register(_ observer: any SocketObserver, for task: URLSessionWebSocketTask) {
        delegate.register(observer, for: task)
    }

    /// Creates a task. Nil after invalidation.
    package func makeTask<Output>(_ make: (URLSession) -> Output) -> Output? {
        isInvalidated.withLock { $0 ? nil : make(urlSession) }
    }
}

extension FoundationSession: CustomReflectable {
    /// A mirror without children, because the requests of a `URLSession` have secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
