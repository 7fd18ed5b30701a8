#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation

/// Sends requests through the system's libcurl: the session on Linux where none is given.
///
/// Make one and keep it: connections are kept alive and shared by its requests. One thread serves all of a session's
/// exchanges; it starts with the first and ends with the session. While it sleeps, callers start theirs themselves.
///
/// ```swift
/// var configuration = SessionConfiguration()
/// configuration.tls.clientIdentity = ClientIdentity(certificate: .file(certificate), key: .file(key))
/// let router = Router<MovieApi>(session: CurlSession(configuration: configuration))
/// ```
///
/// libcurl 7.78 or later is loaded at run time. ``DefaultSession`` falls back to ``FoundationSession`` where there is
/// none; a session of this type then fails with ``NetworkError/Code/unsupported``.
public final class CurlSession: NetworkSession, CallCancellableSession {
    /// The session used where none is given.
    public static let shared = CurlSession(SessionConfiguration(), isShared: true)

    /// Whether this system has a libcurl that can be used.
    public static var isAvailable: Bool { CurlLibrary.failure == nil }

    let configuration: SessionConfiguration
    private let loop: Result<CurlLoop, NetworkError>
    private let isShared: Bool
    /// Whether connections go to the URL's host, as far as the configuration says.
    private let isStraight: Bool

    /// Makes a session with connections of its own. A configuration that cannot be met is the error of every request.
    public convenience init(configuration: SessionConfiguration = SessionConfiguration()) {
        self.init(configuration, isShared: false)
    }

    private init(_ configuration: SessionConfiguration, isShared: Bool) {
        self.isShared = isShared
        isStraight = configuration.unixSocketPath == nil && configuration.resolve.isEmpty
        self.configuration = configuration
        loop = Result { () throws(NetworkError) in try CurlLoop(configuration) }
        if configuration.tls.insecureTrustsEveryServer {
            StandardError.write("Switchboard: a CurlSession trusts every server (insecureTrustsEveryServer)\n")
        }
    }

    deinit {
        if case .success(let loop) = loop { loop.close(cancelling: true) }
    }

    /// Sends a request and waits for the whole response, or its head when the request asks for a stream.
    ///
    /// - Throws: ``NetworkError`` when there is no complete response: see its codes, and ``CurlError`` underneath.
    ///   `CancellationError` when the task was cancelled; the connection is closed then.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        let request = try request.ready()
        // Within a call it is the call that repeats, and notes it.
        guard request.call == nil else { return try await exchange(request) }
        let start = ContinuousClock.now
        do {
            return try await exchange(request)
        } catch let error as NetworkError where error.repetition != nil {
            let call = CallRecord([], since: start)
            return try await call.exchange(request, since: start) { request in
                guard request.repetition != nil else { throw error }
                return try await exchange(request)
            }
        }
    }

    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        do {
            return try await perform(request, over: loop.get())
        } catch let error as NetworkError {
            let error = error.attributed(to: request)
            throw isStraight ? error.asOfflineError(to: request.url) : error
        }
    }

    /// Runs tasks on the session's own thread: for programs that send a great many requests and do little with each.
    ///
    /// ```swift
    /// await withTaskExecutorPreference(session.taskExecutor) { /* send requests, also in child tasks */ }
    /// ```
    ///
    /// A task that runs there starts a request and takes its response without a switch between threads, which costs more
    /// than most requests. Whatever it does meanwhile holds up all of the session's exchanges: never block there, and
    /// leave long computations to other tasks. Without libcurl, and once the session has ended, tasks run elsewhere.
    public var taskExecutor: any TaskExecutor {
        guard case .success(let loop) = loop else { return globalConcurrentExecutor }
        return loop
    }

    /// Refuses requests from now on; those under way end by themselves.
    ///
    /// A request sent afterwards fails with ``NetworkError/Code/sessionInvalidated``. Does nothing to ``shared``, which
    /// others use too.
    public func invalidate() {
        guard !isShared, case .success(let loop) = loop else { return }
        loop.close(cancelling: false)
    }

    /// Refuses requests from now on, ends those under way with ``NetworkError/Code/sessionInvalidated``, closes all
    /// connections, and returns when that is done. Does nothing to ``shared``, which others use too.
    public func shutdown() async {
        guard !isShared, case .success(let loop) = loop else { return }
        loop.close(cancelling: true)
        await withCheckedContinuation { continuation in
            loop.whenEnded { continuation.resume() }
        }
    }
}
#endif
