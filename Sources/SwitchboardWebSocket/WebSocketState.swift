import Switchboard

/// A state of a WebSocket, in ``WebSocket/states``.
public enum WebSocketState: Sendable, Equatable {
    /// Messages can be sent.
    case open
    /// The connection was lost or closed for a time, and the next one is not open yet.
    case reconnecting(after: NetworkError)
    /// The socket has ended: the last state. Nil for a socket that ended without a Close frame.
    case closed(WebSocketClosure?)
}
