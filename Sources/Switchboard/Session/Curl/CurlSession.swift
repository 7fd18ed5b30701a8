#if os(Linux)
import SwitchboardCurl
import SwitchboardPlatform
import Foundation

/// Sends requests through the system's libcurl. The default session on Linux.
///
/// Create one session and keep it: its requests share connections that are kept alive. One thread serves all exchanges
/// of a session. It starts with the first exchange and ends with the session. While it sleeps, callers start their
/// exchanges themselves.
///
/// ```swift
/// var configuration = SessionConfiguration()
/// configuration.tls.clientIdentity = .init(
///     certificate: .file(certificate), key: .file(privateKey))
/// let router = Router<MovieApi>(
///     session: CurlSession(configuration: configuration))
/// ```
///
/// The session loads libcurl 7.78 or later at run time. Without it, ``DefaultSession`` falls back to
/// ``FoundationSession``, and a session of this type fails with ``NetworkError/Code/unsupported``.
public final class CurlSession: NetworkSession {
    /// The session that routers and managers share by default on Linux.
    public static let shared = CurlSession(SessionConfiguration(), isShared: true)

    /// Whether this system has a usable libcurl.
    public static var isAvailable: Bool { CurlLibrary.failure == nil }

    let configuration: SessionConfiguration
    /// The last head of a response, because most responses of a server repeat its lines.
    let knownHead = Protected(KnownHead())
    /// The loop, or nil if its first creation failed.
    private let firstLoop: CurlLoop?
    private let laterLoop = Protected(LaterLoop())
    private let isShared: Bool
    /// Whether the configuration uses the addresses of the URL's host.
    private let usesHostAddresses: Bool

    private struct LaterLoop {
        var loop: CurlLoop?
        var isClosed = false
    }

    /// Creates a session with separate connections. If the configuration cannot be met, or the system is out of
    /// descriptors or memory, a request fails with the reason, and the next one tries again.
    public convenience init(configuration: SessionConfiguration = SessionConfiguration()) {
        self.init(configuration, isShared: false)
    }

    private init(_ configuration: SessionConfiguration, isShared: Bool) {
        self.isShared = isShared
        usesHostAddresses = configuration.unixSocketPath == nil && configuration.resolve.isEmpty
        self.configuration = configuration
        firstLoop = try? CurlLoop(configuration)
        if configuration.tls.insecureTrustsEveryServer {
            StandardError.write("Switchboard: a CurlSession trusts every server (insecureTrustsEveryServer)\n")
        }
    }

    deinit {
        existingLoop?.close(cancelling: true)
    }

    var existingLoop: CurlLoop? { firstLoop ?? laterLoop.value.loop }

    /// Returns the loop, and creates it if that failed before.
    @inline(__always)
    private func loop() throws(NetworkError) -> CurlLoop {
        if let firstLoop { return firstLoop }
        return try createLoop()
    }

    private func createLoop() throws(NetworkError) -> CurlLoop {
        if let loop = laterLoop.value.loop { return loop }
        let new = try CurlLoop(configuration)
        let (loop, isClosed) = laterLoop.withLock { later in
            if later.loop == nil { later.loop = new }
            return (later.loop ?? new, later.isClosed)
        }
        if isClosed { loop.close(cancelling: true) }
        return loop
    }

    private func closeLoop(cancelling: Bool) -> CurlLoop? {
        let later = laterLoop.withLock { later in
            later.isClosed = true
            return later.loop
        }
        let loop = firstLoop ?? later
        loop?.close(cancelling: cancelling)
        return loop
    }

    /// Sends a request and waits for the whole response. For a streamed response, it waits only for the head.
    ///
    /// - Throws: ``NetworkError`` when no complete response arrived, with a ``CurlError`` underneath if libcurl
    ///   reported the failure. `CancellationError` when the task was canceled; the connection is then closed.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try Task.checkCancellation()
        let request = try request.encodedAndValidated()
        // Within a call, the call resends the request and records both exchanges.
        let start = request.isPartOfCall ? nil : ContinuousClock.now
        do {
            return try await exchange(request)
        } catch let error as NetworkError {
            guard let start, error.replay != nil else { throw error }
            let call = Call(since: start)
            return try await call.exchange(request, since: start) { request in
                guard request.isReplay else { throw error }
                return try await send(request)  // as part of that call
            }
        }
    }

    // Each call of an asynchronous function costs some hundred instructions.
    @inline(__always)
    private func exchange(_ request: NetworkRequest) async throws -> NetworkResponse {
        do {
            return try await perform(request, over: loop())
        } catch let error as NetworkError {
            let error = error.attributed(to: request)
            throw usesHostAddresses ? error.asOfflineError(to: request.url) : error
        }
    }

    /// An executor that runs tasks on the session's own thread, for programs that send very many requests and do little
    /// with each response.
    ///
    /// ```swift
    /// let session = CurlSession()
    /// let router = Router<MovieApi>(session: session)
    /// let page = try await withTaskExecutorPreference(session.taskExecutor) {
    ///     // Child tasks run there too.
    ///     try await router.request(.popular(page: 1), as: MoviePage.self)
    /// }
    /// ```
    ///
    /// A task on that thread starts a request and receives its response without a thread switch, which costs more than
    /// most requests. Its other work delays all exchanges of the session: never block there, and move long computations
    /// to other tasks. Without libcurl, and after the session has ended, tasks run on other threads.
    public var taskExecutor: any TaskExecutor {
        (try? loop()) ?? globalConcurrentExecutor
    }

    /// True, because the session itself stops the exchanges of a canceled call.
    public var runsInCallersTask: Bool { true }

    /// Refuses new requests. Requests in flight continue.
    ///
    /// A later request fails with ``NetworkError/Code/sessionInvalidated``. Does nothing on ``shared``, because other
    /// code uses it too.
    public func invalidate() {
        if !isShared { _ = closeLoop(cancelling: false) }
    }

    /// Refuses new requests, ends those in flight with ``NetworkError/Code/sessionInvalidated``, and closes all
    /// connections. Returns when both are done. Does nothing on ``shared``, because other code uses it too.
    public func shutdown() async {
        guard !isShared, let loop = closeLoop(cancelling: true) else { return }
        await withCheckedContinuation { continuation in
            loop.whenEnded { continuation.resume() }
        }
    }
}
#endif
