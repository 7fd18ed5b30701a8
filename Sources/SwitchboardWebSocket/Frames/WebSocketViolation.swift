/// A violation of the protocol by the server. The connection ends with the code.
struct WebSocketViolation: Error, Equatable {
    let code: WebSocketCloseCode
    let reason: String

    /// Creates a violation of [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455), which closes with 1002 by default.
    init(_ reason: String, code: WebSocketCloseCode = .protocolError) {
        self.code = code
        self.reason = reason
    }
}
