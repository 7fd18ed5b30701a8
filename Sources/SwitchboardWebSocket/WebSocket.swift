import Foundation
import Switchboard
import SwitchboardPlatform

/// A WebSocket of an endpoint ([RFC 6455](https://www.rfc-editor.org/rfc/rfc6455)).
///
/// ```swift
/// let socket = try await router.webSocket(
///     for: .chat, sending: String.self, receiving: Todo.self)
/// try await socket.send("hello")
/// for try await todo in socket { show(todo) }
/// await socket.close(.normalClosure, reason: "bye")
/// ```
///
/// The loop ends when the server closes the socket, and throws when the connection is lost. Leaving the loop, canceling
/// its task or releasing the socket closes it with ``WebSocketCloseCode/goingAway``. A slow reader makes the server wait,
/// see ``WebSocketOptions/queueLimit``.
public final class WebSocket<Outgoing, Incoming>: AsyncSequence, Sendable {
    /// The messages that the server sends.
    public typealias Element = Incoming

    /// The subprotocol that the server chose, or nil.
    public let subprotocol: String?
    let connections: ConnectionSeries
    private let coding: WebSocketCoding<Outgoing, Incoming>
    /// The last message that the reader has, not decoded. Nil for a socket that does not reconnect.
    private let last: Protected<WebSocketMessage?>?
    fileprivate let isOwner: Bool

    /// Creates a socket. Only an owner ends the connections when it or its reader is released.
    init(
        _ connections: ConnectionSeries, _ subprotocol: String?, _ coding: WebSocketCoding<Outgoing, Incoming>,
        last: Protected<WebSocketMessage?>? = nil, isOwner: Bool = true
    ) {
        self.connections = connections
        self.subprotocol = subprotocol
        self.coding = coding
        self.last = last
        self.isOwner = isOwner
    }

    deinit {
        if isOwner { connections.release() }
    }

    /// The code and the reason of the end. Nil while the socket is open, and after a lost connection.
    public var closure: WebSocketClosure? { connections.closure }

    /// The messages and bytes that were sent and received.
    public var metrics: WebSocketMetrics { connections.metrics }

    /// The present state and those that follow, for any number of readers. A slow reader gets the last 16 of them. The
    /// sequence ends with ``WebSocketState/closed(_:)``.
    public var states: AsyncStream<WebSocketState> { connections.states }

    /// Sends a message, and waits until the network has taken it, except for the last 64 KiB. Concurrent messages are sent
    /// one after another. While the socket reconnects, it waits for the next connection. A message that a lost connection
    /// may have taken is not sent again.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection,
    ///   `NetworkError.Code.encodingFailed`, or `CancellationError`.
    public func send(_ message: sending Outgoing, isolation: isolated (any Actor)? = #isolation) async throws {
        try await send(coding.encode(Transferred(message)))
    }

    private func send(_ message: WebSocketMessage) async throws {
        let connection = try await connections.current()
        do {
            switch message {
            case .text(let text): try await connection.queue.send(.text, Data(text.utf8))
            case .binary(let data): try await connection.queue.send(.binary, data)
            }
        } catch NetworkError.webSocketClosed {
            throw connection.closedError
        }
    }

    /// Returns the next message, or nil after the server closed the socket. A task that is canceled meanwhile closes the
    /// socket, without waiting for the server's answer.
    ///
    /// - Throws: `NetworkError.Code.connectionLost` without a Close frame, `NetworkError.Code.responseTooLarge` for a
    ///   message above ``WebSocketOptions/messageLimit``, `NetworkError.Code.invalidResponse` after another violation of
    ///   the protocol, `NetworkError.Code.timedOut` after an unanswered ping, `CancellationError`.
    ///   `NetworkError.Code.decodingFailed` for a message that does not decode, after which the next one can be received.
    public func receive(isolation: isolated (any Actor)? = #isolation) async throws -> Incoming? {
        try await next()?.value
    }

    fileprivate func next() async throws -> Transferred<Incoming>? {
        let message: WebSocketMessage?
        do {
            message = try await connections.next()
        } catch {
            if Task.isCancelled { connections.leave() }
            throw error
        }
        guard let message else { return nil }
        let value = try await coding.decode(message)
        _ = last?.swap(message)
        return value
    }

    /// Sends a ping, and waits for the answer.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection, or
    ///   `CancellationError`.
    public func ping() async throws {
        let connection = try await connections.current()
        do {
            try await connection.ping()
        } catch NetworkError.webSocketClosed {
            throw connection.closedError
        }
    }

    /// Closes the socket, and waits for the server's answer, at most ``WebSocketOptions/closeTimeout``. Messages that
    /// were not read are discarded. Nothing happens on a socket that has ended.
    ///
    /// - Parameters:
    ///   - code: The code. A code that must not be sent becomes ``WebSocketCloseCode/normalClosure``.
    ///   - reason: The reason, of which at most 123 bytes are sent.
    public func close(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        await connections.close(code.isSendable ? code : .normalClosure, reason)
    }

    /// Reads the messages. Releasing it closes the socket.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let socket: WebSocket
        /// The owner of the connection, or nil in a subscription, whose connection stays open for the socket.
        private let end: ReaderEnd?

        init(_ socket: WebSocket) {
            self.socket = socket
            end = socket.isOwner ? ReaderEnd(socket.connections) : nil
        }

        /// Returns the next message, or nil after the server closed the socket. See ``WebSocket/receive(isolation:)``.
        public mutating func next() async throws -> Incoming? { try await socket.next()?.value }

        /// Returns the next message, as ``next()`` does.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Incoming? {
            try await socket.next()?.value
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// Closes the socket when its reader is released.
private final class ReaderEnd: Sendable {
    private let connections: ConnectionSeries

    init(_ connections: ConnectionSeries) { self.connections = connections }

    deinit { connections.release() }
}
