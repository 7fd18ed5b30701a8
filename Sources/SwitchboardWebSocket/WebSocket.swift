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
/// see ``WebSocketOptions/receiveBufferLimit``.
public final class WebSocket<Outgoing, Incoming>: AsyncSequence, Sendable {
    /// The messages that the server sends.
    public typealias Element = Incoming

    /// The subprotocol that the server chose for the first connection, or nil. The socket of `onOpen` has that of its
    /// own connection.
    public let subprotocol: String?
    let connections: ConnectionSeries
    private let coding: WebSocketCoding<Outgoing, Incoming>
    /// The last message that the reader received, not decoded. Nil for a socket that does not reconnect.
    private let last: Protected<WebSocketMessage?>?
    fileprivate let isOwner: Bool

    /// Creates a socket. An owner closes the connections when it or its reader is released.
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

    /// The current state and the later ones, for any number of readers. A slow reader gets the last 16. The sequence
    /// ends with ``WebSocketState/closed(_:)``.
    public var states: AsyncStream<WebSocketState> { connections.states }

    /// Sends a message, and waits until all but its last 64 KiB are on the network. Concurrent messages are sent one
    /// after another. While the socket reconnects, it waits for the next connection. A message that may have been sent
    /// on a lost connection is not sent again. While the unread messages have 16 times
    /// ``WebSocketOptions/receiveBufferLimit`` or more, and at least 1 MiB, it throws in place of waiting: the socket
    /// reconnects after the messages are read.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection,
    ///   `NetworkError.Code.encodingFailed`, or `CancellationError`.
    public func send(_ message: sending Outgoing, isolation: isolated (any Actor)? = #isolation) async throws {
        try await send(coding.encode(Transferred(message)))
    }

    private func send(_ message: WebSocketMessage) async throws {
        try await connections.withCurrent { try await $0.queue.send(message) }
    }

    /// Returns the next message, or nil after the server closed the socket. Canceling the task closes the socket without
    /// waiting for the server's Close frame.
    ///
    /// - Throws: `NetworkError.Code.connectionLost` without a Close frame, `NetworkError.Code.responseTooLarge` for a
    ///   message above ``WebSocketOptions/messageLimit``, `NetworkError.Code.invalidResponse` after another violation of
    ///   the protocol, `NetworkError.Code.timedOut` after an unanswered ping, `CancellationError`.
    ///   `NetworkError.Code.decodingFailed` for a message that does not decode, after which the next one can be received.
    public func receive(isolation: isolated (any Actor)? = #isolation) async throws -> Incoming? {
        try await next()?.value
    }

    fileprivate func next() async throws -> Transferred<Incoming>? {
        let next: (message: WebSocketMessage, inbox: Inbox)?
        do {
            next = try await connections.next()
        } catch {
            if Task.isCancelled { connections.cancel() }
            throw error
        }
        guard let (message, inbox) = next else { return nil }
        // A socket that reconnects waits for it, because `onOpen` gets the last message.
        defer { inbox.didRead() }
        let value = try await coding.decode(message)
        _ = last?.swap(message)
        return value
    }

    /// Sends a ping, and waits for the pong.
    ///
    /// - Throws: `NetworkError.Code.webSocketClosed` after the end of the socket, the error of a lost connection, or
    ///   `CancellationError`.
    public func ping() async throws {
        try await connections.withCurrent { try await $0.ping() }
    }

    /// Closes the socket, and waits for the server's Close frame, at most ``WebSocketOptions/closeTimeout``. Messages that
    /// were not read are discarded, also those of a socket that has ended.
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
        /// Nil for the socket that `onOpen` gets, whose connection stays open.
        private let closeOnRelease: CloseOnRelease?

        init(_ socket: WebSocket) {
            self.socket = socket
            closeOnRelease = socket.isOwner ? CloseOnRelease(socket.connections) : nil
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
private final class CloseOnRelease: Sendable {
    private let connections: ConnectionSeries

    init(_ connections: ConnectionSeries) { self.connections = connections }

    deinit { connections.release() }
}

/// A state of a WebSocket, in ``WebSocket/states``.
public enum WebSocketState: Sendable, Equatable {
    /// Messages can be sent.
    case open
    /// The connection was lost or closed temporarily, and the next one is not open yet.
    case reconnecting(after: NetworkError)
    /// The socket has ended: the last state. Nil for a socket that ended without a Close frame.
    case closed(WebSocketClosure?)
}

/// The counts of messages and bytes of a WebSocket.
public struct WebSocketMetrics: Sendable, Hashable {
    /// The number of messages that were sent.
    public let messagesSent: Int
    /// The bytes of their payloads, after compression.
    public let bytesSent: Int64
    /// The number of messages that were received.
    public let messagesReceived: Int
    /// The bytes of their content, after decompression.
    public let bytesReceived: Int64
}

extension WebSocketMetrics {
    init() { self.init(messagesSent: 0, bytesSent: 0, messagesReceived: 0, bytesReceived: 0) }

    /// Returns the sum of two connections' counts.
    static func + (one: Self, other: Self) -> Self {
        Self(
            messagesSent: one.messagesSent + other.messagesSent, bytesSent: one.bytesSent + other.bytesSent,
            messagesReceived: one.messagesReceived + other.messagesReceived,
            bytesReceived: one.bytesReceived + other.bytesReceived)
    }
}
