import Switchboard
import SwitchboardText

/// The end of a WebSocket.
public struct WebSocketClosure: Sendable, Hashable {
    /// The code of the first Close frame, ``WebSocketCloseCode/noStatusReceived`` for one without a code.
    public let code: WebSocketCloseCode
    /// The reason of that frame, or the empty text. A reason of this side is cut at 123 bytes, as in the frame.
    public let reason: String
    /// Whether the server sent that frame.
    public let isFromServer: Bool
}

extension WebSocketClosure {
    /// Creates the closure of a Close frame of this side. The reason is cut as in the frame.
    init(sending code: WebSocketCloseCode, _ reason: String) {
        let sent = code.payload(reason).dropFirst(2)
        self.init(code: code, reason: String(decoding: sent, as: UTF8.self), isFromServer: false)
    }
}

extension WebSocketClosure: DumpedAsDescription {
    /// Code, sender and reason, with secrets replaced: `1000 by the server, "bye"`.
    public var description: String {
        let text = reason.isEmpty ? "" : ", " + Redaction.standard.pairs(in: reason).quotedForMessage
        return "\(code.rawValue) by the \(isFromServer ? "server" : "client")\(text)"
    }
}

/// The reason for the end of a WebSocket ([RFC 6455 §7.4](https://www.rfc-editor.org/rfc/rfc6455#section-7.4)). An integer
/// literal is a code: `socket.close(4001)`, `socket.closure?.code == 1000`.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    /// The number of the code.
    public let rawValue: UInt16

    /// Creates a code. Applications use 3000 to 4999.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 1000: the purpose of the connection is fulfilled.
    public static let normalClosure = Self(rawValue: 1000)
    /// 1001: a server shuts down, or a client leaves.
    public static let goingAway = Self(rawValue: 1001)
    /// 1002: a frame violated the protocol.
    public static let protocolError = Self(rawValue: 1002)
    /// 1003: an endpoint cannot accept this type of data.
    public static let unsupportedData = Self(rawValue: 1003)
    /// 1005: the peer's Close frame had no code. It is never sent.
    public static let noStatusReceived = Self(rawValue: 1005)
    /// 1007: a message does not match its type, such as text that is not UTF-8.
    public static let invalidPayload = Self(rawValue: 1007)
    /// 1008: a message violates a policy.
    public static let policyViolation = Self(rawValue: 1008)
    /// 1009: a message is too large.
    public static let messageTooBig = Self(rawValue: 1009)
    /// 1010: the server did not accept an extension that the client needs.
    public static let mandatoryExtension = Self(rawValue: 1010)
    /// 1011: the server met an unexpected condition.
    public static let internalError = Self(rawValue: 1011)
    /// 1012: the server restarts.
    public static let serviceRestart = Self(rawValue: 1012)
    /// 1013: the server is overloaded.
    public static let tryAgainLater = Self(rawValue: 1013)
    /// 1014: a gateway received an invalid response.
    public static let badGateway = Self(rawValue: 1014)

    /// Whether a Close frame may carry the code ([RFC 6455
    /// §7.4.2](https://www.rfc-editor.org/rfc/rfc6455#section-7.4.2), and the registry of IANA).
    var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

extension WebSocketCloseCode: CustomStringConvertible {
    /// The number of the code.
    public var description: String { "\(rawValue)" }
}

extension WebSocketCloseCode: ExpressibleByIntegerLiteral {
    /// Creates a code from a literal. Applications use 3000 to 4999.
    public init(integerLiteral value: UInt16) { self.init(rawValue: value) }
}
