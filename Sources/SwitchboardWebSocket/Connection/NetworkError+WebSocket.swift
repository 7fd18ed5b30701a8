import Switchboard

extension NetworkError.Code {
    /// The WebSocket has ended, so no message can be sent. ``WebSocket/closure`` has the code and the reason.
    public static let webSocketClosed = NetworkError.Code(rawValue: "webSocketClosed")
}

extension NetworkError {
    /// The code, for `catch NetworkError.webSocketClosed`.
    public static var webSocketClosed: Code { .webSocketClosed }
}
