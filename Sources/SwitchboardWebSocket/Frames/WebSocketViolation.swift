import Switchboard

/// A violation of the protocol by the server. The connection ends with the code.
struct WebSocketViolation: Error, Equatable {
    let code: WebSocketCloseCode
    let reason: String

    /// Creates a violation of [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455), which closes with 1002 by default.
    init(_ reason: String, code: WebSocketCloseCode = .protocolError) {
        self.code = code
        self.reason = reason
    }

    /// The error for the reader.
    var error: NetworkError {
        let isTooBig = code == .messageTooBig
        var error = NetworkError(
            isTooBig ? .responseTooLarge : .invalidResponse, reason: "\(reason); closed with \(code.rawValue)")
        error.title = isTooBig ? "The message is larger than the limit" : "The server violates the WebSocket protocol"
        return error
    }
}
