import Foundation

/// What one exchange took. A value that the session cannot know is nil; ``FoundationSession`` knows ``start``,
/// ``duration``, ``timeToFirstByte`` and ``bytesReceived``.
public struct ExchangeMetrics: Sendable, Hashable {
    /// When the exchange was handed to the session.
    public var start: Date?
    /// From the start to the last byte.
    public var duration: Duration?
    /// From the start to the head of the final response.
    public var timeToFirstByte: Duration?
    /// The bytes of the body after decompression.
    public var bytesReceived: Int64 = 0
    /// The bytes of the request's body that were sent.
    public var bytesSent: Int64?
    /// The protocol, such as `HTTP/1.1`. URLSession on Linux does not say.
    public var protocolVersion: String?
    /// Whether a connection was used that stood already. URLSession on Linux does not say.
    public var isReusedConnection: Bool?
    /// The address and port at the other end, a proxy's when there is one: `127.0.0.1:8080`, `[::1]:443`.
    public var remoteAddress: String?
    /// How long the exchange waited before it was begun: for the session, and for a connection to become free.
    public var queue: Duration?
    /// How long the host's name took to resolve; nothing on a connection that stood already.
    public var nameLookup: Duration?
    /// How long the connection took to stand, without name and TLS; nothing when it stood already.
    public var connect: Duration?
    /// How long TLS took; nil for a plain connection, nothing when it stood already.
    public var secureConnect: Duration?

    /// Nothing measured.
    public init() {}
}
