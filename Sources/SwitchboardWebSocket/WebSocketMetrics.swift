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
