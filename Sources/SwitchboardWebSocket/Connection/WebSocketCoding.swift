import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// Makes messages of values, and values of messages.
struct WebSocketCoding<Outgoing: Sendable, Incoming: Sendable>: Sendable {
    let encode: @Sendable (Outgoing) throws -> WebSocketMessage
    let decode: @Sendable (WebSocketMessage) throws -> Incoming
}

extension WebSocketCoding where Outgoing: Encodable, Incoming: Decodable {
    /// Creates a coding that uses the encoder and decoder of the endpoint that answered.
    init(_ response: NetworkResponse) {
        let (request, environment, decoder) = (response.request, response.environment, response.handling.decoder)
        let encoder = request?.options.encoder ?? FastJSONEncoder()
        self.init { value in
            switch value {
            case let data as Data: return .binary(data)  // first, because a cast that fails takes longer
            case let text as String: return .text(text)
            default: break
            }
            do {
                return .text(String(decoding: try environment.run { try encoder.encode(value) }, as: UTF8.self))
            } catch {
                throw NetworkError.encoding(error).attributed(to: request)
            }
        } decode: { message in
            do throws(NetworkError) {
                if let value = try Self.plain(message) { return value }
            } catch {
                throw error.attributed(to: request)
            }
            let bytes = message.bytes
            do {
                return try environment.run { try decoder.decode(Incoming.self, from: bytes) }
            } catch {
                let reason = DecodingFailure.describe(error, in: bytes, as: Incoming.self, called: "the message")
                throw NetworkError(.decodingFailed, reason: reason, underlying: error).attributed(to: request)
            }
        }
    }

    /// Returns the value of a message for `String` and `Data`, whichever type the message has. Nil for other values,
    /// which are JSON.
    private static func plain(_ message: WebSocketMessage) throws(NetworkError) -> Incoming? {
        if Incoming.self == Data.self || Incoming.self == Data?.self { return message.bytes as? Incoming }
        guard Incoming.self == String.self || Incoming.self == String?.self else { return nil }
        switch message {
        case .text(let text): return text as? Incoming
        case .binary(let data):
            var check = UTF8Check()
            guard check.accept(data), check.isComplete else {
                throw NetworkError(.decodingFailed, reason: "the binary message is not UTF-8, so it is no String")
            }
            return String(decoding: data, as: UTF8.self) as? Incoming
        }
    }
}

extension NetworkError {
    fileprivate func attributed(to request: NetworkRequest?) -> NetworkError {
        request.map(attributed) ?? self
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
