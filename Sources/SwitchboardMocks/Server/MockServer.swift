import Foundation
import Switchboard

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
/// answered with the fitting 4xx, 501 or 505, is not recorded, and ends its connection.
///
/// Connections are kept alive as HTTP/1.1 requires. A response has a `Content-Length` unless it is
/// ``MockResponse/chunked(_:)`` or sets other framing. A request with `Expect: 100-continue` receives `100 Continue`.
/// The server adds nothing else: no `Date`, no `Server`.
///
/// With ``TLS`` the server serves HTTPS.
public final class MockServer: Sendable {
    /// Answers a request for which the queue has no response. It runs on the thread of the connection and may block
    /// that thread.
    public typealias Handler = @Sendable (RecordedRequest) -> MockResponse

    /// The server's URL: `http://127.0.0.1:` and the port, without a path. With ``TLS`` the scheme is `https`.
    public let url: URL
    /// The port that the system chose.
    public let port: Int
    let core: MockServerCore

    /// Starts a server, which runs until ``stop()`` or until its last reference is released.
    /// ``run(configuration:isolation:_:)`` starts and stops one.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/cannotConnect`` when the system refuses a socket. With ``TLS``,
    ///   ``/Switchboard/NetworkError/Code/unsupported`` without OpenSSL, and
    ///   ``/Switchboard/NetworkError/Code/insecureConnection`` for options from which OpenSSL makes no certificate.
    public init(configuration: Configuration = Configuration(), handler: Handler? = nil) throws(NetworkError) {
        let listener: Socket
        var tls: ServerTLS?
        if let options = configuration.tls { tls = try ServerTLS(options) }
        do throws(SystemCalls.Failure) {
            (listener, port) = try Socket.listening()
            core = try MockServerCore(configuration: configuration, tls: tls, handler: handler)
        } catch {
            throw NetworkError(.cannotConnect, reason: "MockServer: \(error.text)")
        }
        let scheme = tls == nil ? "http" : "https"
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(port)") else { throw NetworkError(.invalidRequest) }
        self.url = url
        core.accept(on: listener)
    }

    deinit {
        core.finishStopping()
    }

    /// Appends responses to the queue. Each answers one request, in the order in which the requests are complete.
    public func enqueue(_ responses: MockResponse...) {
        core.state.withLock { $0.enqueue(responses) }
    }

    /// Closes the port and every connection, answers in flight included, and returns when that is done.
    ///
    /// Stopping takes milliseconds; a handler that does not return delays it by two seconds at most. Stopping again
    /// does nothing. Recorded requests stay. Pending waits end with ``/Switchboard/NetworkError/Code/connectionLost``.
    ///
    /// - Returns: The responses, answers and connections unfinished at that moment.
    @discardableResult
    public func stop() -> Unfinished {
        let unfinished = core.state.withLock { $0.unfinishedWhenStopped() }
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
        core.board.add(stub)
        return stub
    }

    /// Requests that nothing answered, stubs' closures that threw an error other than `NetworkError` and
    /// `CancellationError`, stubs that answered too few requests, and ``unfinished`` responses and answers.
    public var faults: [String] {
        core.board.faults + (unfinished.isEmpty ? [] : ["\(unfinished)"])
    }
}
