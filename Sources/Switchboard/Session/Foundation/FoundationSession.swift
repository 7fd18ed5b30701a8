import SwitchboardPlatform
import Foundation

/// Sends requests through one long-lived URLSession.
///
/// Make one and keep it: connections are kept alive and shared by its requests. ``shared`` is what a router uses on
/// Apple's systems when it is given none; on Linux that is ``CurlSession``.
///
/// On Linux this works around what URLSession does there: a 401 is returned instead of waited on, timeouts have
/// fractions of a second, redirects are left to the chain, a body is sent whole again on a new connection. What cannot
/// be worked around:
/// - a request whose kept-alive connections are dead is sent up to six times, of which no history tells; one that is not
///   idempotent too;
/// - a body in an unknown `Content-Encoding` is ``NetworkError/Code/cannotDecodeResponse``;
/// - SIGPIPE ends the process with libcurl before 7.87, unless the program ignores it;
/// - a response with trailers, or a connection closed inside the response's head, ends the *process* (a trap in
///   Foundation before 6.4);
/// - damage inside compressed data that arrives complete goes unnoticed;
/// - a redirect without a `Location` loses its body, which is ``NetworkError/Code/truncatedBody``;
/// - repeated response headers arrive joined by commas, except `Set-Cookie`.
public final class FoundationSession: NetworkSession {
    /// The session used where none is given.
    public static let shared = FoundationSession()

    private let urlSession: URLSession
    private let unsupported: String?
    private let delegate = FoundationSessionDelegate()
    /// Guards the creation of tasks: URLSession traps when one is created after the invalidation.
    private let isInvalidated = Protected(false)
    private let deadlines = DeadlineSweeper()

    /// Makes a session with connections of its own.
    public init(configuration: SessionConfiguration = SessionConfiguration()) {
        unsupported = configuration.unsupportedByURLSession
        urlSession = URLSession(
            configuration: configuration.urlSessionConfiguration, delegate: delegate,
            delegateQueue: URLSessionQuirks.makeDelegateQueue())
    }

    deinit {
        urlSession.finishTasksAndInvalidate()
    }

    /// Sends a request and waits for the whole response, or its head when the request asks for a stream.
    ///
    /// - Throws: ``NetworkError`` when there is no complete response: see its codes. `CancellationError` when the task
    ///   was cancelled; the connection is closed then.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        let request = try request.ready()
        do {
            return try await exchange(request)
        } catch let error as NetworkError {
            throw error.attributed(to: request)
        }
    }

    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        if let unsupported {
            throw NetworkError(.unsupported, reason: "FoundationSession does not support \(unsupported)")
        }
        let payload = try await RequestPayload(request.body, within: request.timeouts)
        let urlRequest = try URLRequest(request, payload: payload)
        let exchange = FoundationExchange(request, payload: payload, deadlines)
        do {
            let response = try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    guard exchange.begin(continuation) else { return }
                    start(exchange, urlRequest)
                }
            } onCancel: {
                exchange.cancel()
            }
            // One that is still arriving has its deadlines until its end.
            if response.stream == nil { deadlines.remove(exchange) }
            return response
        } catch {
            deadlines.remove(exchange)
            throw (error as? NetworkError)?.asOfflineError(to: request.url) ?? error
        }
    }

    /// Refuses requests from now on; those under way end by themselves.
    ///
    /// A request sent afterwards fails with ``NetworkError/Code/sessionInvalidated``. Does nothing to ``shared``, which
    /// others use too.
    public func invalidate() {
        guard self !== Self.shared else { return }
        isInvalidated.withLock { isInvalidated in
            guard !isInvalidated else { return }
            isInvalidated = true
            urlSession.finishTasksAndInvalidate()
        }
    }

    private func start(_ exchange: FoundationExchange, _ urlRequest: URLRequest) {
        let task: URLSessionDataTask? = isInvalidated.withLock { isInvalidated in
            isInvalidated ? nil : urlSession.dataTask(with: urlRequest)
        }
        guard let task else { return exchange.fail(NetworkError(.sessionInvalidated)) }
        delegate.register(exchange, for: task)
        if exchange.attach(task) {
            deadlines.add(exchange)
            task.resume()
        } else {
            // Cancelled between begin and here. The task must run to be forgotten by its session.
            task.resume()
            exchange.cancelTask()
        }
    }
}
