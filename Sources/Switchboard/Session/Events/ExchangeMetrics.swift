import Foundation

/// The measurements of one exchange. A value that the session cannot measure is nil. ``FoundationSession`` measures
/// only ``start``, ``duration``, ``timeToFirstByte`` and ``bytesReceived``.
public struct ExchangeMetrics: Sendable, Hashable {
    /// The time when the session received the exchange.
    public var start: Date?
    /// The time from the start to the last byte.
    public var duration: Duration?
    /// The time from the start to the head of the final response.
    public var timeToFirstByte: Duration?
    /// The size of the response body in bytes, after decompression.
    public var bytesReceived: Int64 = 0
    /// The number of bytes of the request body that were sent.
    public var bytesSent: Int64?
    /// The protocol, such as `HTTP/1.1`. Nil with URLSession on Linux.
    public var protocolVersion: String?
    /// True if the exchange reused a connection. Nil with URLSession on Linux.
    public var isReusedConnection: Bool?
    /// The address and port of the other end, or of the proxy if one is used: `127.0.0.1:8080`, `[::1]:443`.
    public var remoteAddress: String?
    /// The time that the exchange waited for the session and for a free connection.
    public var queue: Duration?
    /// The time to resolve the host name. Zero on a reused connection.
    public var nameLookup: Duration?
    /// The time to open the connection, without name lookup and TLS. Zero on a reused connection.
    public var connect: Duration?
    /// The time for the TLS handshake. Nil on a plain connection, zero on a reused one.
    public var secureConnect: Duration?

    /// Creates empty metrics.
    public init() {}
}
