import Switchboard

extension MockServer {
    /// All requests so far, in the order in which they were complete, including those that ``takeRequest(within:)``
    /// returned.
    public var requests: [RecordedRequest] {
        core.state.withLock { $0.requests }
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
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut`` when no request comes `within` that time,
    ///   ``/Switchboard/NetworkError/Code/connectionLost`` when the server is stopped first, or `CancellationError`.
    public func takeRequest(within limit: Duration = .seconds(5)) async throws -> RecordedRequest {
        try await core.state.wait(within: limit) { state in
            "MockServer: no request came after the \(state.requests.count) so far (\(state.connectionsText))"
        } for: { state in
            state.takeRequest()
        }
    }

    /// Returns the first WebSocket that has ended and that no earlier call returned.
    ///
    /// - Throws: The errors of ``takeRequest(within:)``.
    public func takeWebSocket(within limit: Duration = .seconds(5)) async throws -> RecordedWebSocket {
        try await core.state.wait(within: limit) { state in
            "MockServer: no WebSocket ended after the \(state.webSockets.count) so far (\(state.connectionsText))"
        } for: { state in
            state.takeWebSocket()
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
    ///   - limit: The longest time to wait.
    /// - Throws: ``/Switchboard/NetworkError/Code/timedOut``, ``/Switchboard/NetworkError/Code/connectionLost`` when
    ///   the server is stopped first, or `CancellationError`.
    public func waitForDisconnect(of connection: Int? = nil, within limit: Duration = .seconds(5)) async throws {
        try await core.state.wait(within: limit) { state in
            "MockServer: \(connection.map { "connection \($0)" } ?? "a connection") was not closed by its client "
                + "(\(state.connectionsText))"
        } for: { state in
            state.isDisconnected(connection) ? () : nil
        }
    }
}
