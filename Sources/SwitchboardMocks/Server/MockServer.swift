import Foundation
import Switchboard
import SwitchboardContracts

/// A scripted HTTP/1.1 server for tests, on a real socket of 127.0.0.1 with a free port.
///
/// ```swift
/// try await MockServer.run { server in
///     server.enqueue(.status(503), .json(#"{"page":1}"#))
///     let manager = NetworkManager(interceptors: [RetryPolicy()])
///     let page = try await manager.data(from: server.url)
///     print(page.count, server.requests.map(\.target))  // 10 ["/", "/"]
/// }
/// ```
///
/// A request takes the response at the head of the queue. When the queue is empty, the newest matching stub answers,
/// then the handler. Without any of them the server sends a 404 that says so. The server answers the requests of one
/// connection one after the other, pipelined requests too. Connections run in parallel. A request that breaks HTTP is
/// answered with the fitting 4xx, 501 or 505, is not recorded, ends its connection, and is one of the ``faults``. A
/// request above a limit of the server is no fault.
///
/// Connections are kept alive as HTTP/1.1 requires. A response has a `Content-Length` unless it is
/// ``MockResponse/chunked(_:)`` or sets other framing. A response after which the server closes the connection has
/// `Connection: close`, unless a fault ends it. A WebSocket's 101 has the fields of the handshake. A request with
/// `Expect: 100-continue` receives `100 Continue`. The server adds nothing else: no `Date`, no `Server`.
///
/// A secure server supports HTTP/1.1 over TLS 1.2 and 1.3. It resumes no TLS session on a new connection, and answers
/// plain HTTP with a 400. It needs the system's OpenSSL, 1.1.1 or 3, which it loads at run time: `libssl.so.3` on Linux.
/// Apple's systems have none that a program may load.
///
/// ```swift
/// import SwitchboardTesting
///
/// @Test(.enabled(if: MockServer.supportsTLS))
/// func pageOverTLS() async throws {
///     try await MockServer.run(isSecure: true) { server in
///         server.enqueue(.json(#"{"page":1}"#))
///         let session = DefaultSession.make(server.trustingConfiguration)
///         let router = Router<MovieApi>(session: session)
///         ...
///     }
/// }
/// ```
public final class MockServer: Sendable {
    /// Answers a request for which the queue has no response. It runs on the thread of the connection and may block
    /// that thread.
    public typealias Handler = @Sendable (RecordedRequest) -> MockResponse

    /// The server's URL: `http://127.0.0.1:` and the port, without a path. A secure server has the scheme `https`.
    public let url: URL
    /// The port that the system chose.
    public let port: Int
    let core: MockServerCore

    /// Starts a server, which runs until ``stop()`` or until its last reference is released.
    /// ``run(isSecure:certificateNames:headLimit:bodyLimit:isolation:handler:body:)`` starts and stops one.
    ///
    /// - Parameters:
    ///   - isSecure: Whether the server serves HTTPS, with a certificate that it makes and signs itself. Default false.
    ///   - certificateNames: The certificate's host names and addresses. A star matches one label. ``url`` has the host
    ///     127.0.0.1, so clients refuse a certificate without that address. Default the names of this machine.
    ///   - headLimit: The largest request line with its header block, in bytes. The server answers more with 431. Default
    ///     1 MiB.
    ///   - bodyLimit: The largest body, in bytes, stored in memory. The server answers more with 413. Default 1 GiB.
    ///   - handler: Answers the requests for which the queue and the stubs have no response. Nil, the default, answers
    ///     them with 404.
    /// - Throws: ``/Switchboard/NetworkError/Code/cannotConnect`` when the system refuses a socket or a thread. For HTTPS,
    ///   ``/Switchboard/NetworkError/Code/unsupported`` without OpenSSL, and
    ///   ``/Switchboard/NetworkError/Code/insecureConnection`` for names from which OpenSSL makes no certificate.
    public init(
        isSecure: Bool = false, certificateNames: [String] = ["localhost", "127.0.0.1", "::1"],
        headLimit: Int = 1 << 20,
        bodyLimit: Int = 1 << 30, handler: Handler? = nil
    ) throws(NetworkError) {
        let listener: Socket
        let tls = isSecure ? try ServerTLS(names: certificateNames) : nil
        let limits = RequestLimits(head: headLimit, body: bodyLimit)
        do throws(Socket.Failure) {
            (listener, port) = try Socket.listening()
            core = try MockServerCore(limits: limits, tls: tls, handler: handler)
            try core.accept(on: listener)
        } catch {
            throw NetworkError(.cannotConnect, reason: "MockServer: \(error.text)")
        }
        let scheme = tls == nil ? "http" : "https"
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else { throw NetworkError(.invalidRequest) }
        self.url = url
    }

    deinit {
        core.finishStopping()
    }

    /// Appends responses to the queue. Each answers one request, in the order in which the requests are complete.
    public func enqueue(_ responses: MockResponse...) {
        core.state.withLock { $0.queue.responses += responses }
    }

    /// Closes the port and every connection, answers in flight included, and returns when that is done.
    ///
    /// Stopping takes milliseconds; a handler that does not return delays it by two seconds at most. Stopping again
    /// does nothing. Recorded requests stay. Pending waits end with ``/Switchboard/NetworkError/Code/connectionLost``.
    ///
    /// - Returns: The responses, answers and connections unfinished at that moment.
    @discardableResult
    public func stop() -> Unfinished {
        core.finishStopping()
        return unfinished
    }

    /// The unfinished responses, answers and connections: now, or at the moment the server was stopped.
    public var unfinished: Unfinished {
        core.state.withLock { $0.stoppedWith ?? $0.unfinished }
    }
}

extension MockServer: StubAnswering {
    /// Adds a stub. Of the stubs that match a request, the newest that is not used up answers.
    @discardableResult
    public func add(_ stub: Stub) -> Stub {
        core.registry.add(stub)
        return stub
    }

    /// Requires that the answers to the requests that match keep a contract. An answer that breaks it is sent, and is
    /// one of the ``faults``.
    public func hold(_ matcher: RequestMatcher, to contract: Contract) {
        core.contracts.hold(matcher, to: contract)
    }

    /// Requests that nothing answered or that break HTTP, stubs' closures that threw an error other than `NetworkError`
    /// and `CancellationError`, stubs that answered too few requests, answers that broke a contract, and ``unfinished``
    /// responses and answers. An answer in flight gets up to two seconds to end, because the server notices a moment
    /// later that a client has left.
    public var faults: [String] {
        core.waitForAnswers()
        let refusals = core.state.withLock { $0.refusals }
        let unfinished = self.unfinished
        let left = unfinished.isEmpty ? [] : ["\(unfinished)"]
        return core.registry.faults + refusals + core.contracts.faults + left
    }
}

extension MockServer {
    /// Runs a server while `body` runs, and returns the value that `body` returns.
    ///
    /// The server stops when `body` returns or throws. It stops at once when the task is canceled, so that nothing
    /// waits for a stalled answer. The other parameters are those of
    /// ``init(isSecure:certificateNames:headLimit:bodyLimit:handler:)``.
    ///
    /// ```swift
    /// try await MockServer.run { request in
    ///     request.path == "/health" ? .text("up") : .status(404)
    /// } body: { server in
    ///     let health = server.url.appending(path: "health")
    ///     let answer = try await manager.data(from: health)
    /// }
    /// ```
    public static func run<Output>(
        isSecure: Bool = false, certificateNames: [String] = ["localhost", "127.0.0.1", "::1"],
        headLimit: Int = 1 << 20,
        bodyLimit: Int = 1 << 30, isolation: isolated (any Actor)? = #isolation, handler: Handler? = nil,
        body: (MockServer) async throws -> Output
    ) async throws -> Output {
        let server = try MockServer(
            isSecure: isSecure, certificateNames: certificateNames, headLimit: headLimit, bodyLimit: bodyLimit,
            handler: handler)
        defer { server.stop() }
        return try await withTaskCancellationHandler {
            try await body(server)
        } onCancel: {
            server.core.beginStopping()
        }
    }
}

extension MockServer {
    /// All requests so far, in the order in which they were complete, including those that ``takeRequest(within:)``
    /// returned.
    public var requests: [RecordedRequest] {
        core.state.withLock { $0.requests.all }
    }

    /// The number of connections accepted so far.
    public var connectionCount: Int {
        core.state.withLock { $0.accepted }
    }

    /// The number of connections that neither side has closed.
    public var openConnections: Int {
        core.state.withLock { $0.open.count }
    }

    /// Returns the first request that no earlier call returned, as soon as the request is complete.
    ///
    /// - Parameter limit: The longest time to wait. Default 30 seconds.
    /// - Returns: The request.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when no request comes within the limit,
    ///   ``/Switchboard/NetworkError/Code/connectionLost`` when the server is stopped first, or `CancellationError`.
    public func takeRequest(within limit: Duration = .seconds(30)) async throws -> RecordedRequest {
        try await core.state.wait(within: limit) { state in
            "MockServer: no request came after the \(state.requests.count) so far (connections: \(state.connectionsText))"
        } for: { state in
            state.requests.next()
        }
    }

    /// Returns the first WebSocket that has ended and that no earlier call returned.
    ///
    /// - Throws: The errors of ``takeRequest(within:)``.
    public func takeWebSocket(within limit: Duration = .seconds(30)) async throws -> RecordedWebSocket {
        try await core.state.wait(within: limit) { state in
            "MockServer: no WebSocket ended after the \(state.webSockets.count) so far (connections: \(state.connectionsText))"
        } for: { state in
            state.webSockets.next()
        }
    }

    /// Waits until the client closes a connection: idle, amid a request, waiting for an answer or receiving one.
    ///
    /// A test sees this way that canceling a call closed its connection. A connection that the server ended itself,
    /// with ``MockResponse/close`` for instance, never counts.
    ///
    /// - Parameters:
    ///   - connection: The connection's number, from ``RecordedRequest/connection``. Nil waits until no connection is
    ///     open and a client has closed at least one.
    ///   - limit: The longest time to wait. Default 30 seconds.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut``, ``/Switchboard/NetworkError/Code/connectionLost`` when
    ///   the server is stopped first, or `CancellationError`.
    public func waitForDisconnect(of connection: Int? = nil, within limit: Duration = .seconds(30)) async throws {
        try await core.state.wait(within: limit) { state in
            "MockServer: \(connection.map { "connection \($0)" } ?? "a connection") was not closed by its client "
                + "(connections: \(state.connectionsText))"
        } for: { state in
            state.isDisconnected(connection) ? () : nil
        }
    }
}

extension MockServer {
    /// The responses, answers and connections that a server had left when it was stopped.
    public struct Unfinished: Sendable, Hashable, CustomStringConvertible {
        /// The descriptions of the responses left in the queue, without those that repeat without limit.
        public let responses: [String]
        /// The answers in flight, each as its request and its response. A stall that the client did not end is one.
        public let answers: [String]
        /// The number of connections that neither side had closed, idle ones included.
        public let openConnections: Int

        /// Whether the queue is empty and no answer was cut short.
        public var isEmpty: Bool { responses.isEmpty && answers.isEmpty }

        /// The unfinished responses and answers, one per line, or an empty text when both are complete.
        public var description: String {
            let left = responses.isEmpty ? [] : ["never requested: " + responses.joined(separator: "; ")]
            return (left + answers.map { "cut short: \($0)" }).joined(separator: "\n")
        }
    }
}
