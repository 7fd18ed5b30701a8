import Switchboard
import SwitchboardText

/// The end of a WebSocket.
public struct WebSocketClosure: Sendable, Hashable {
    /// The code of the first Close frame, ``WebSocketCloseCode/noStatusReceived`` for one without a code.
    public let code: WebSocketCloseCode
    /// The reason of that frame, or the empty text. A reason of this side is cut at 123 bytes, as it was sent.
    public let reason: String
    /// Whether the server sent that frame.
    public let isByServer: Bool
}

extension WebSocketClosure {
    /// Creates the end by a Close frame of this side, with the part of the reason that the frame has.
    init(sending code: WebSocketCloseCode, _ reason: String) {
        let sent = code.payload(reason).dropFirst(2)
        self.init(code: code, reason: String(decoding: sent, as: UTF8.self), isByServer: false)
    }
}

extension WebSocketClosure: CustomStringConvertible, CustomReflectable {
    /// Code, sender and reason, with secrets replaced: `1000 by the server, "bye"`.
    public var description: String {
        let text = reason.isEmpty ? "" : ", " + Redaction.standard.pairs(in: reason).quotedForMessage
        return "\(code.rawValue) by the \(isByServer ? "server" : "client")\(text)"
    }

    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
