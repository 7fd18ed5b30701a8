import Switchboard
import SwitchboardPlatform

/// The connections of a socket, one after another. A socket that does not reconnect has one.
final class ConnectionSeries: Sendable {
    struct State {
        var connection: WebSocketConnection
        /// The counts of the earlier connections.
        var past = WebSocketMetrics()
        var state = WebSocketState.open
        /// The end of the socket. Nil while it is open or reconnects. Without reconnection, the end is recorded only if
        /// the states are read or the socket is canceled.
        var end: Result<Void, any Error>?
        /// The code and the reason when the app closes the socket while it reconnects.
        var closure: WebSocketClosure?
        var isClosing = false
        var supervisor: Task<Void, Never>?
        var waiters = WaitingTasks()
        /// The readers of the states, by number.
        var observers: [Int: AsyncStream<WebSocketState>.Continuation] = [:]
        var lastObserver = 0
    }

    private let reconnection: Reconnection?
    let state: Protected<State>

    /// Creates a series that begins with an open connection. Without a reconnection it is the only one.
    init(_ connection: WebSocketConnection, _ reconnection: Reconnection? = nil) {
        self.reconnection = reconnection
        state = Protected(State(connection: connection))
        if reconnection != nil { supervise() }
    }

    var closure: WebSocketClosure? {
        let (connection, closure, isOver) = state.withLock {
            ($0.connection, $0.closure, $0.end != nil || $0.isClosing)
        }
        return closure ?? (reconnection == nil || isOver ? connection.closure : nil)
    }

    var metrics: WebSocketMetrics {
        let (past, connection) = state.withLock { ($0.past, $0.connection) }
        return past + connection.metrics
    }

    // MARK: Using the connection

    /// Returns the open connection. While the socket reconnects, it waits for the next one.
    ///
    /// - Throws: The error of a socket that has ended, or `CancellationError`.
    func current() async throws -> WebSocketConnection {
        guard reconnection != nil else { return state.withLock { $0.connection } }
        while true {
            try Task.checkCancellation()
            let (connection, end) = state.withLock { ($0.connection, $0.end) }
            if let end {
                try end.get()
                throw connection.closedError
            }
            if connection.inbox.result == nil { return connection }
            // The reader itself may wait here, and would never read the unread messages.
            guard connection.inbox.cancelDraining() else {
                throw connection.attributed(
                    NetworkError(.connectionLost, reason: "too many messages are unread to open the next connection"))
            }
            await state.wait(while: { $0.end == nil && $0.connection === connection }, in: \.waiters)
        }
    }

    /// Returns the next message, or nil at the end. Its reader then calls ``Inbox/didRead()``.
    func next() async throws -> (message: WebSocketMessage, inbox: Inbox)? {
        while true {
            let connection = state.withLock { $0.connection }
            let inbox = connection.inbox
            guard reconnection != nil else { return try await inbox.next().map { ($0, inbox) } }
            do {
                if let message = try await inbox.next() { return (message, inbox) }
            } catch {
                try Task.checkCancellation()
            }
            await state.wait(while: { $0.end == nil && $0.connection === connection }, in: \.waiters)
            try Task.checkCancellation()
            let end = state.withLock { $0.connection === connection ? $0.end : nil }
            if let end {
                try end.get()
                return nil
            }
        }
    }

    /// Sends a message or a ping.
    func withCurrent(_ send: (WebSocketConnection) async throws -> Void) async throws {
        let connection = try await current()
        do {
            try await send(connection)
        } catch NetworkError.webSocketClosed {
            throw closedError(of: connection)
        }
    }

    /// Returns the error of a message or a ping after a Close frame: that of a lost connection if the socket reconnects.
    func closedError(of connection: WebSocketConnection) -> NetworkError {
        guard let reconnection, !state.withLock({ $0.isClosing || $0.end != nil }),
            let loss = reconnection.cause(after: .success(()), connection.closure)
        else { return connection.closedError }
        return connection.attributed(loss)
    }

    // MARK: States

    var states: AsyncStream<WebSocketState> {
        let (connection, isClosing) = state.withLock { ($0.connection, $0.isClosing) }
        // Without an earlier reader, no task has recorded the end.
        if reconnection == nil || isClosing, let end = connection.inbox.result { finish(end) }
        supervise()
        let (stream, observer) = AsyncStream<WebSocketState>.makeStream(bufferingPolicy: .bufferingNewest(16))
        let (state, isOver) = state.withLock { state in
            if state.end == nil {
                state.lastObserver += 1
                observer.onTermination = { [weak self, number = state.lastObserver] _ in self?.forget(number) }
                state.observers[state.lastObserver] = observer
            }
            // Under the lock, so that states stay in order. It calls no code of the app.
            observer.yield(state.state)
            return (state.state, state.end != nil)
        }
        if isOver, case .closed = state { observer.finish() }
        return stream
    }

    private func forget(_ observer: Int) {
        // Released without the lock.
        _ = state.withLock { $0.observers.removeValue(forKey: observer) }
    }

    private func publish(_ next: WebSocketState) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.state = next
            for observer in state.observers.values { observer.yield(next) }
        }
    }

    // MARK: Reconnecting

    /// Starts the task that reconnects and publishes states, once.
    private func supervise() {
        state.withLock { state in
            guard state.supervisor == nil, state.end == nil else { return }
            state.supervisor = Task { await self.superviseConnections() }
        }
    }

    private func superviseConnections() async {
        while true {
            let connection = state.withLock { $0.connection }
            guard let end = await connection.inbox.ended() else { return }
            if connection.hasReceivedFrames { reconnection?.call.restartAttempts() }
            guard let reconnection, !state.withLock({ $0.isClosing }),
                let cause = reconnection.cause(after: end, connection.closure)
            else { return finish(end) }
            publish(.reconnecting(after: cause))
            do {
                // `onOpen` gets the last message that the reader receives before those of the next connection.
                try install(
                    try await reconnection.reopen(after: cause) { await connection.inbox.drained() })
            } catch {
                return finish(.failure(reconnection.call.end(with: error)))
            }
        }
    }

    private func install(_ connection: WebSocketConnection) throws {
        connection.inbox.prepend(state.withLock { $0.connection }.inbox.takeUnread())
        let waiters = state.withLock { state -> WaitingTasks? in
            guard state.end == nil, !state.isClosing else { return nil }
            state.past = state.past + state.connection.metrics
            state.connection = connection
            return state.waiters.take()
        }
        guard let waiters else {
            connection.cancel()
            throw CancellationError()
        }
        publish(.open)
        waiters.resume()
    }

    // MARK: Ending

    func close(_ code: WebSocketCloseCode, _ reason: String) async {
        let connection = startClosing(code, reason).connection
        await connection.waitForEnd(within: connection.options.closeTimeout)
    }

    /// Closes the socket in a separate task, because its owner was released.
    func release() {
        let (connection, isFirst) = startClosing(.goingAway, "")
        if isFirst { Task { await connection.waitForEnd(within: connection.options.closeTimeout) } }
    }

    /// Sends a Close frame, unless one was sent. Returns whether it is the first one.
    private func startClosing(
        _ code: WebSocketCloseCode, _ reason: String
    ) -> (connection: WebSocketConnection, isFirst: Bool) {
        // The supervisor may not have recorded a final end yet.
        let last = state.withLock { $0.connection }
        if let reconnection, let end = last.inbox.result, reconnection.cause(after: end, last.closure) == nil {
            finish(end)
        }
        let (connection, isReconnecting) = state.withLock { state in
            state.isClosing = true
            let isReconnecting = reconnection != nil && state.end == nil && state.connection.inbox.result != nil
            if isReconnecting {
                state.closure = WebSocketClosure(sending: code, reason)
            }
            return (state.connection, isReconnecting)
        }
        if isReconnecting { finish(.success(())) }
        return (connection, connection.startClosing(code, reason))
    }

    /// Ends the socket at once, without waiting for the server.
    func cancel() {
        let connection = state.withLock { state in
            state.isClosing = true  // No other connection follows.
            return state.connection
        }
        connection.cancel()
        finish(.failure(CancellationError()))
    }

    private func finish(_ end: Result<Void, any Error>) {
        let ended = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            // `close()` while reconnecting sets the closure, and may reach this line after the canceled attempt does.
            state.end = state.closure == nil ? end : .success(())
            state.state = .closed(state.closure ?? state.connection.closure)
            defer { (state.observers, state.supervisor, state.waiters) = ([:], nil, WaitingTasks()) }
            return state
        }
        guard let ended else { return }
        for observer in ended.observers.values {
            observer.yield(ended.state)
            observer.finish()
        }
        ended.waiters.resume()
        ended.supervisor?.cancel()
        reconnection?.call.end(end.map { 101 })
    }
}
