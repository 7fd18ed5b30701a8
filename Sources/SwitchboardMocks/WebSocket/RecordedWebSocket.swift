import Foundation
import Switchboard

/// A WebSocket as a ``MockServer`` saw it.
public struct RecordedWebSocket: Sendable {
    /// A message of the client.
    public struct Message: Sendable, Hashable {
        /// Whether the message is text.
        public let isText: Bool
        /// The bytes of the message. A compressed message stays compressed.
        public let payload: Data

        /// The message as text in UTF-8.
        public var text: String { String(decoding: payload, as: UTF8.self) }
    }

    /// The request of the handshake.
    public let request: RecordedRequest
    /// The messages that the client sent.
    public let messages: [Message]
    /// The code of the client's Close frame. Nil without a frame or without a code.
    public let closeCode: UInt16?
    /// The reason of that frame. Nil without a frame.
    public let closeReason: String?

    init(_ peer: ScriptedPeer, _ request: RecordedRequest) {
        self.request = request
        messages = peer.messages
        closeCode = peer.closure?.code
        closeReason = peer.closure?.reason
    }
}

extension RecordedWebSocket: DumpedAsDescription {
    /// The request, the number of messages and the close code, without contents.
    public var description: String {
        "\(request), \(messages.count) messages" + (closeCode.map { ", closed with \($0)" } ?? "")
    }
}

extension RecordedWebSocket.Message: CustomReflectable {
    /// A mirror with the number of bytes, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["isText": isText, "payload": "\(payload)"]) }
}
