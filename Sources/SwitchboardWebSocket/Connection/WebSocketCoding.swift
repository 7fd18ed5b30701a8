import Foundation
import Switchboard
import SwitchboardJSON

/// Makes messages of values, and values of messages.
struct WebSocketCoding<Outgoing: Sendable, Incoming: Sendable>: Sendable {
    let encode: @Sendable (Outgoing) throws -> WebSocketMessage
    let decode: @Sendable (WebSocketMessage) throws -> Incoming
}

extension WebSocketCoding where Outgoing: Encodable, Incoming: Decodable {
    /// Creates a coding that uses the encoder and decoder of the endpoint that answered.
    init(_ response: NetworkResponse) {
        let handling = response.handling
        let encoder = response.request?.options.encoder
        self.init { message in
            switch message {
            case let text as String: return .text(text)
            case let data as Data: return .binary(data)
            default: return .text(String(decoding: try (encoder ?? FastJSONEncoder()).encode(message), as: UTF8.self))
            }
        } decode: { message in
            switch message {
            case .text(let text): if let value = text as? Incoming { return value }
            case .binary(let data): if let value = data as? Incoming { return value }
            }
            return try handling.decoder.decode(Incoming.self, from: message.bytes)
        }
    }
}

extension WebSocketMessage {
    /// The bytes of the message.
    fileprivate var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}
