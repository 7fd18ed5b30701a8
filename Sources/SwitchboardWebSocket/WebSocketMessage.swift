import Foundation

/// A message of a WebSocket.
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, sent as UTF-8.
    case text(String)
    /// Bytes.
    case binary(Data)
}
