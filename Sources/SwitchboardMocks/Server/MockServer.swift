import Foundation
import Switchboard

/// An HTTP/1.1 server inside the test, on a real socket of 127.0.0.1 and a free port, that answers what it is told to.
///
/// ```swift
/// try await MockServer.run { server in
///     server.enqueue(.status(503), .json(#"{"page":1}"#))
///     let page = try await router(to: server.url).request(.newMovies(page: 1), as: MoviePage.self)
///     #expect(server.requests.map(\.target) == ["/now_playing?page=1", "/now_playing?page=1"])
/// }
/// ```
///
/// A request takes the response at the head of the queue; with the queue empty, the newest stub that matches answers,
/// then the handler; without any of them, a 404 that says so. Requests of one connection are answered one after the other, also when they were sent ahead;
/// connections run in parallel. A request that breaks HTTP is answered with the fitting 4xx, 501 or 505, is not
/// recorded, and ends its connection.
///
/// Connections are kept alive as HTTP/1.1 has it. A response has a `Content-Length` unless it is
/// ``MockResponse/chunked(_:)`` or brings its own framing, `100 Continue` is sent to those who expect it, and nothing
/// else is added: no `Date`, no `Server`.
///
/// With ``TLS`` all of it is HTTPS.
public final class MockServer: Sendable {
    /// Answers a request that no enqueued response was there for. It runs on the thread of the connection and may block
    /// that.
    public typealias Handler = @Sendable (RecordedRequest) -> MockResponse

    /// What to ask for: `http://127.0.0.1:` and the port, without a path; with ``TLS`` it begins with `https`.
    public let url: URL
    /// The port that the system chose.
    public let port: Int
    let core: MockServerCore

    /// Starts a server, which runs until ``stop()`` or until nobody holds it any more.
    /// ``run(configuration:isolation:_:)`` does both.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/cannotConnect`` when the system has no socket to give. With ``TLS``,
    ///   ``/Switchboard/NetworkError/Code/unsupported`` where there is no OpenSSL, and
    ///   ``/Switchboard/NetworkError/Code/insecureConnection`` for options of which it makes no certificate.
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

    /// Closes the port and every connection, answers under way included, and returns when that is done.
    ///
    /// That takes milliseconds; a handler that does not return holds it up for two seconds at most. Stopping again does
    /// nothing. What was recorded stays; waits that are under way end with
    /// ``/Switchboard/NetworkError/Code/connectionLost``.
    ///
    /// - Returns: What was unfinished at that moment.
    @discardableResult
    public func stop() -> Unfinished {
        let unfinished = core.state.withLock { $0.unfinishedWhenStopped() }
        core.finishStopping()
        return unfinished
    }

    /// What is unfinished now, or was when the server was stopped.
    public var unfinished: Unfinished {
        core.state.withLock { $0.stoppedWith ?? $0.unfinished }
    }
}

extension MockServer: StubAnswering {
    /// Adds a stub. Of those that match a request, the newest answers that is not used up.
    @discardableResult
    public func add(_ stub: Stub) -> Stub {
        core.board.add(stub)
        return stub
    }

    /// Requests that no stub answered, stubs that were asked too seldom, and what is ``unfinished``.
    public var faults: [String] {
        core.board.faults + (unfinished.isEmpty ? [] : ["\(unfinished)"])
    }
}
