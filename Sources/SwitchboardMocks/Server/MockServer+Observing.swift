import Switchboard

extension MockServer {
    /// The requests so far, in the order in which they were complete. Those that were taken stay in it.
    public var requests: [RecordedRequest] {
        core.state.withLock { $0.requests }
    }

    /// The connections accepted so far.
    public var connectionCount: Int {
        core.state.withLock { $0.accepted }
    }

    /// The connections that neither side has closed.
    public var openConnections: Int {
        core.state.withLock { $0.open.count }
    }

    /// The first request that was not taken before, as soon as it is complete.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when none comes `within` that time,
    ///   ``/Switchboard/NetworkError/Code/connectionLost`` when the server is stopped first, `CancellationError`.
    public func takeRequest(within limit: Duration = .seconds(5)) async throws -> RecordedRequest {
        try await core.state.wait(within: limit) { state in
            "MockServer: no request came after the \(state.requests.count) so far (\(state.connectionsText))"
        } for: { state in
            state.takeRequest()
        }
    }

    /// Returns when the client has closed a connection: idle, amid a request, waiting for an answer or receiving one.
    ///
    /// This is how a test sees that cancelling a call closed its connection. A connection that the server ended itself,
    /// with ``MockResponse/close`` for instance, never counts.
    ///
    /// - Parameters:
    ///   - connection: The number that ``RecordedRequest/connection`` gives. Nil waits until no connection is open and
    ///     a client has closed at least one.
    ///   - limit: How long to wait.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut``, ``/Switchboard/NetworkError/Code/connectionLost`` when
    ///   the server is stopped first, `CancellationError`.
    public func waitForDisconnect(of connection: Int? = nil, within limit: Duration = .seconds(5)) async throws {
        try await core.state.wait(within: limit) { state in
            "MockServer: \(connection.map { "connection \($0)" } ?? "a connection") was not closed by its client "
                + "(\(state.connectionsText))"
        } for: { state in
            state.isDisconnected(connection) ? () : nil
        }
    }
}
