import Foundation
import Switchboard

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
/// its task or releasing the socket closes it. A slow reader makes the server wait, see ``WebSocketOptions/queueLimit``.
public final class WebSocket<Outgoing: Sendable, Incoming: Sendable>: AsyncSequence, Sendable {
    /// The messages that the server sends.
    public typealias Element = Incoming

    /// The subprotocol that the server chose, or nil.
    public let subprotocol: String?
    let connection: WebSocketConnection
    private let encode: @Sendable (Outgoing) throws -> WebSocketMessage
    private let decode: @Sendable (WebSocketMessage) throws -> Incoming

    init(
        _ connection: WebSocketConnection, _ subprotocol: String?,
        encode: @escaping @Sendable (Outgoing) throws -> WebSocketMessage,
        decode: @escaping @Sendable (WebSocketMessage) throws -> Incoming
    ) {
        self.connection = connection
        self.subprotocol = subprotocol
        self.encode = encode
        self.decode = decode
    }

    deinit {
        connection.abandon(nil)
    }

    /// The code and the reason of the end. Nil while the socket is open, and after a lost connection.
    public var closure: WebSocketClosure? { connection.closure }

    /// The messages and bytes that were sent and received.
    public var metrics: WebSocketMetrics {
        let (sent, received) = (connection.queue.sent, connection.inbox.received)
        return WebSocketMetrics(
            messagesSent: sent.messages, bytesSent: sent.bytes, messagesReceived: received.messages,
            bytesReceived: received.bytes)
    }

    /// Sends a message, and waits until the network has taken it, except for the last 64 KiB. Concurrent messages are sent
    /// one after another.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection, an
    ///   error of encoding, or `CancellationError`.
    public func send(_ message: Outgoing) async throws {
        switch try encode(message) {
        case .text(let text): try await connection.queue.send(.text, Data(text.utf8))
        case .binary(let data): try await connection.queue.send(.binary, data)
        }
    }

    /// Returns the next message, or nil after the server closed the socket. A task that is canceled meanwhile closes the
    /// socket.
    ///
    /// - Throws: `NetworkError.Code.connectionLost` without a Close frame, `NetworkError.Code.invalidResponse` after a
    ///   violation of the protocol, `NetworkError.Code.timedOut` after an unanswered ping, the error of decoding a
    ///   message, `CancellationError`.
    public func receive() async throws -> Incoming? {
        let message = try await withTaskCancellationHandler {
            try await connection.inbox.next()
        } onCancel: { [connection] in
            connection.abandon(nil)
        }
        return try message.map(decode)
    }

    /// Sends a ping, and waits for the answer.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection, or
    ///   `CancellationError`.
    public func ping() async throws {
        try await connection.ping()
    }

    /// Closes the socket, and waits for the server's answer, at most ``WebSocketOptions/closeTimeout``. Messages that
    /// were not read are discarded. Nothing happens on a socket that has ended.
    ///
    /// - Parameters:
    ///   - code: The code. A code that must not be sent becomes ``WebSocketCloseCode/normalClosure``.
    ///   - reason: The reason, of which at most 123 bytes are sent.
    public func close(_ code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        await connection.close(code.isSendable ? code : .normalClosure, reason)
    }

    /// Reads the messages. Releasing it closes the socket.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let socket: WebSocket
        private let end: ReaderEnd

        init(_ socket: WebSocket) {
            self.socket = socket
            end = ReaderEnd(socket.connection)
        }

        /// Returns the next message, or nil after the server closed the socket. See ``WebSocket/receive()``.
        public mutating func next() async throws -> Incoming? { try await socket.receive() }

        /// Returns the next message, as ``next()`` does.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Incoming? {
            try await socket.receive()
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }
}

/// Closes the socket when its reader is released.
private final class ReaderEnd: Sendable {
    private let connection: WebSocketConnection

    init(_ connection: WebSocketConnection) { self.connection = connection }

    deinit {
        let connection = connection
        Task { await connection.close(.goingAway, "") }
    }
}
