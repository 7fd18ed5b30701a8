/// The figures of a WebSocket.
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

    /// Returns the figures of two connections together.
    static func + (one: Self, other: Self) -> Self {
        Self(
            messagesSent: one.messagesSent + other.messagesSent, bytesSent: one.bytesSent + other.bytesSent,
            messagesReceived: one.messagesReceived + other.messagesReceived,
            bytesReceived: one.bytesReceived + other.bytesReceived)
    }
}
