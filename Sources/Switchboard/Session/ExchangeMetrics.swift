import Foundation

/// What one exchange took. A value that the session cannot know is nil.
public struct ExchangeMetrics: Sendable, Hashable {
    /// When the exchange was handed to the session.
    public var start: Date?
    /// From the start to the last byte.
    public var duration: Duration?
    /// From the start to the head of the final response.
    public var timeToFirstByte: Duration?
    /// The bytes of the body after decompression.
    public var bytesReceived: Int64 = 0
    /// The protocol, such as `HTTP/1.1`. URLSession on Linux does not say.
    public var protocolVersion: String?
    /// Whether a connection was used that stood already. URLSession on Linux does not say.
    public var isReusedConnection: Bool?

    /// Nothing measured.
    public init() {}
}
