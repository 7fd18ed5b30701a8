import Foundation
import Switchboard

/// A message or a control frame, in either direction.
enum WebSocketEvent: Sendable, Equatable {
    case message(WebSocketMessage)
    case ping(Data)
    case pong(Data)
    /// A Close frame, with ``WebSocketCloseCode/noStatusReceived`` if it has no code.
    case close(WebSocketCloseCode, reason: String)

    /// Creates the event of a Close frame, whose code and reason are checked ([RFC 6455
    /// §5.5.1](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.1)).
    init(closing code: UInt16, _ reason: Data) throws(WebSocketViolation) {
        let code = WebSocketCloseCode(rawValue: code)
        guard code.isSendable || code == .noStatusReceived && reason.isEmpty else {
            throw .badCloseCode(code.rawValue)
        }
        guard reason.isUTF8 else { throw .notUTF8 }
        self = .close(code, reason: String(decoding: reason, as: UTF8.self))
    }

    var frame: (opcode: Opcode, payload: Data) {
        switch self {
        case .message(.text(let text)): (.text, Data(text.utf8))
        case .message(.binary(let data)): (.binary, data)
        case .ping(let payload): (.ping, payload)
        case .pong(let payload): (.pong, payload)
        case .close(let code, let reason): (.close, code == .noStatusReceived ? Data() : code.payload(reason))
        }
    }

    /// Returns the message for monitors and cassettes. Nil for pings and pongs, which apps do not see.
    func recorded(isSent: Bool) -> CallMessage? {
        switch self {
        case .ping, .pong: nil
        case .message(.text): CallMessage(.text, isSent: isSent, frame.payload)
        case .message(.binary): CallMessage(.binary, isSent: isSent, frame.payload)
        case .close: CallMessage(.close, isSent: isSent, frame.payload)
        }
    }
}

extension WebSocketCloseCode {
    /// Returns the payload of a Close frame. A reason of more than 123 bytes is cut at a whole character.
    func payload(_ reason: String) -> Data {
        var payload = withUnsafeBytes(of: rawValue.bigEndian) { Data($0) }
        for character in reason.unicodeScalars {
            let bytes = Array(String(character).utf8)
            guard payload.count + bytes.count <= 125 else { break }
            payload += bytes
        }
        return payload
    }
}

/// A violation of the protocol by the server. The connection ends with the code.
struct WebSocketViolation: Error, Equatable {
    let code: WebSocketCloseCode
    let reason: String

    /// Creates a violation of [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455), which closes with 1002 by default.
    init(_ reason: String, code: WebSocketCloseCode = .protocolError) {
        self.code = code
        self.reason = reason
    }

    static let notUTF8 = Self("a text is not UTF-8 (RFC 6455 §8.1)", code: .invalidPayload)

    static func badCloseCode(_ code: UInt16) -> Self { Self("a Close frame has the code \(code) (RFC 6455 §7.4)") }

    /// The violation of a message that is larger than `limit`.
    static func tooBig(_ limit: Int) -> Self {
        Self("webSocket.messageLimit is \(limit) bytes", code: .messageTooBig)
    }

    var error: NetworkError {
        let isTooBig = code == .messageTooBig
        var error = NetworkError(
            isTooBig ? .responseTooLarge : .invalidResponse, reason: "\(reason); closed with \(code.rawValue)")
        error.title = isTooBig ? "The message is larger than the limit" : "The server violates the WebSocket protocol"
        return error
    }
}
