import Switchboard

/// Opens the next connection of a socket, as its retry policy allows.
struct Reconnection: Sendable {
    /// Counts the attempts of all connections.
    let call: LongCall
    /// Opens a connection in the environment of the first one, and calls the app's `onOpen`. Its argument is the
    /// messages of the lost connections that will be read first.
    let open: @Sendable (ArraySlice<WebSocketMessage>) async throws -> WebSocketConnection
    /// Runs an operation as a call of the router.
    let run: @Sendable (@Sendable () async throws -> WebSocketConnection) async throws -> WebSocketConnection

    /// Returns the reason to reconnect after the end of a connection. Nil when the end is final.
    func cause(after end: Result<Void, any Error>, _ closure: WebSocketClosure?) -> NetworkError? {
        guard call.isRepeatable else { return nil }
        let error: NetworkError? =
            switch end {
            case .failure(let error): error as? NetworkError
            case .success: closure?.loss
            }
        return error.flatMap { call.reconnects(after: $0) ? $0 : nil }
    }

    /// Waits for `unread` to return, and then opens a connection, until one is open.
    ///
    /// - Throws: The last error, when no further attempt is allowed. `CancellationError` when the router canceled the
    ///   socket.
    func reopen(
        after cause: NetworkError, following unread: @escaping @Sendable () async -> ArraySlice<WebSocketMessage>
    ) async throws -> WebSocketConnection {
        try await run { [call, open] in
            let unread = try await withOwnTask(unread)
            // The router may have canceled the socket before this operation began.
            guard !call.isCancelled else { throw CancellationError() }
            var error = cause
            while try await call.waitForRetry(after: error) {
                do {
                    return try await open(unread)
                } catch let failure as NetworkError {
                    error = failure
                }
            }
            throw error
        }
    }
}

extension WebSocketClosure {
    /// The reason to reconnect after the server has closed temporarily. Nil for another closure.
    var loss: NetworkError? {
        let temporary: [WebSocketCloseCode] = [
            .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ]
        guard isFromServer, temporary.contains(code) else { return nil }
        return NetworkError(.connectionLost, reason: "the server closed it with \(code.rawValue)")
    }
}

extension RetryPolicy {
    /// Returns the default policy of sockets that reconnect.
    static func forSockets(_ clock: any Clock<Duration>) -> RetryPolicy {
        RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(1), maximumDelay: .seconds(300), clock: clock)
    }
}
