import Foundation

/// A message or a control frame that a ``FoundationSocket`` sends or receives.
package enum SocketEvent: Sendable, Equatable {
    /// A whole message. The payload of a text is UTF-8.
    case message(Data, isText: Bool)
    /// A ping to send. The ``pong(_:)`` of its answer has the same payload.
    case ping(Data)
    /// The answer to a ping.
    case pong(Data)
    /// A Close frame. The code is nil if it has none.
    case close(UInt16?, reason: Data)
    /// A received message was larger than the limit, and is lost.
    case oversized
}
