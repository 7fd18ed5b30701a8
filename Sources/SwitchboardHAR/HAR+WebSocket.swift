import Foundation

extension HAR {
    /// A message of a WebSocket, as browsers write it into `_webSocketMessages`.
    package struct WebSocketMessage: Codable, Sendable, Hashable {
        /// `send`, `receive`, or `error` for a lost connection.
        package var type: String
        /// The time in seconds since 1970.
        package var time: Double
        /// The opcode of RFC 6455 §5.2: 1 for text, 2 for binary data, 8 for a Close frame; -1 for an error.
        package var opcode: Int
        /// The text, or the bytes in base64 for any other opcode than 1.
        package var data: String

        package init(type: String, opcode: Int, payload: Data, at date: Date = Date()) {
            self.type = type
            self.opcode = opcode
            // Milliseconds, as of the other dates of an archive.
            time = (date.timeIntervalSince1970 * 1_000).rounded() / 1_000
            data = Self.text(payload, opcode)
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            type = try container.decode(String.self, forKey: .type)
            time = (try? container.decode(Double.self, forKey: .time)) ?? 0
            opcode = (try? container.decode(Int.self, forKey: .opcode)) ?? 1
            data = (try? container.decode(String.self, forKey: .data)) ?? ""
        }

        /// The bytes of the message. Empty for damaged base64.
        package var payload: Data {
            get { opcode == 1 || opcode == -1 ? Data(data.utf8) : Data(base64Encoded: data) ?? Data() }
            set { data = Self.text(newValue, opcode) }
        }

        private static func text(_ payload: Data, _ opcode: Int) -> String {
            opcode == 1 || opcode == -1 ? String(decoding: payload, as: UTF8.self) : payload.base64EncodedString()
        }
    }
}

extension HAR.Entry {
    /// The entry with the scheme that browsers write: `wss` and `ws` for a WebSocket.
    package var withWebSocketScheme: HAR.Entry {
        guard webSocketMessages != nil, request.url.lowercased().hasPrefix("http") else { return self }
        var entry = self
        entry.request.url = "ws" + request.url.dropFirst(4)
        entry.resourceType = "websocket"
        return entry
    }

    /// The entry with the scheme of the handshake: `https` and `http`.
    var withHandshakeScheme: HAR.Entry {
        guard request.url.lowercased().hasPrefix("ws") else { return self }
        var entry = self
        entry.request.url = "http" + request.url.dropFirst(2)
        if entry.webSocketMessages == nil { entry.webSocketMessages = [] }
        return entry
    }
}
