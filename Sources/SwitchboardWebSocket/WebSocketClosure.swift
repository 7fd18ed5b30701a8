/// The end of a WebSocket.
public struct WebSocketClosure: Sendable, Hashable {
    /// The code of the first Close frame, ``WebSocketCloseCode/noStatusReceived`` for one without a code.
    public let code: WebSocketCloseCode
    /// The reason of that frame, or the empty text.
    public let reason: String
    /// Whether the server sent that frame.
    public let isByServer: Bool
}
