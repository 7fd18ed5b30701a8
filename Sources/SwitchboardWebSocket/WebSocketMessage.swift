import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardText

/// A message of a WebSocket.
public enum WebSocketMessage: Sendable, Hashable {
    /// Text, sent as UTF-8.
    case text(String)
    /// Bytes.
    case binary(Data)
}

/// Converts values to messages, and messages to values.
struct WebSocketCoding<Outgoing, Incoming>: Sendable {
    let encode: @Sendable (Transferred<Outgoing>) async throws -> WebSocketMessage
    let decode: @Sendable (WebSocketMessage) async throws -> Transferred<Incoming>
}

extension WebSocketMessage {
    /// Creates the message of a value, with the encoder of the endpoint.
    init(_ value: some Encodable, for response: NetworkResponse) throws {
        switch value {
        case let data as Data: self = .binary(data)  // first, because a cast that fails takes longer
        case let text as String: self = .text(text)
        default:
            let encoder = response.request?.options.encoder ?? FastJSONEncoder.ofRequests
            do {
                let data = try response.environment.run { try encoder.encode(value) }
                guard encoder is FastJSONEncoder || data.isUTF8 else {
                    throw NetworkError(.encodingFailed, reason: "the encoder's bytes are no text; send them as Data")
                }
                self = .text(String(decoding: data, as: UTF8.self))
            } catch {
                throw NetworkError.encoding(error).attributed(to: response.request)
            }
        }
    }

    /// Returns the value of the message, with the decoder of the endpoint.
    func decode<Value: Decodable>(_ type: Value.Type, for response: NetworkResponse) throws -> Value {
        do throws(NetworkError) {
            if let value = try plain(type) { return value }
        } catch {
            throw error.attributed(to: response.request)
        }
        let bytes = bytes
        do {
            let decoder = response.options.decoder
            return try response.environment.run { try decoder.decode(type, from: bytes.received(for: decoder)) }
        } catch {
            let reason = DecodingFailure.reason(error, in: bytes, as: type, called: "the message")
            throw NetworkError(.decodingFailed, reason: reason, underlying: error).attributed(to: response.request)
        }
    }

    /// Returns the message as a `String` or `Data`. Nil for other types, which are JSON.
    private func plain<Value>(_ type: Value.Type) throws(NetworkError) -> Value? {
        if type == Data.self || type == Data?.self { return bytes as? Value }
        guard type == String.self || type == String?.self else { return nil }
        switch self {
        case .text(let text): return text as? Value
        case .binary(let data):
            guard data.isUTF8 else {
                throw NetworkError(.decodingFailed, reason: "the binary message is not UTF-8, so it is no String")
            }
            return String(decoding: data, as: UTF8.self) as? Value
        }
    }
}

extension NetworkError {
    fileprivate func attributed(to request: NetworkRequest?) -> NetworkError {
        request.map(attributed) ?? self
    }
}

extension WebSocketMessage {
    /// The length in bytes.
    var size: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }

    /// The bytes that the message counts in a queue: 64 more than its length, so that empty messages count too.
    var cost: Int { size + 64 }

    private var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .binary(let data): data
        }
    }
}
