import Foundation
import Testing
@testable import SwitchboardWebSocket

/// Bytes of a server, and the reaction that [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455) requires of a client that
/// sends each message back.
struct ClientCase: Sendable, CustomTestStringConvertible {
    /// The end of a case.
    enum End: Sendable {
        /// The server closes with 1000 after it has the answers to all messages.
        case normal
        /// The bytes have a Close frame, and the client answers with this payload.
        case close(Data)
        /// The client refuses the bytes with this code.
        case refusal(UInt16)
    }

    let testDescription: String
    let wire: Data
    var messages: [WebSocketMessage] = []
    var pongs: [Data] = []
    var end = End.normal
    var limit = 32 << 20
    var compression: AcceptedCompression?

    init(
        _ name: String, _ wire: Data, _ messages: [WebSocketMessage] = [], pongs: [Data] = [], end: End = .normal,
        limit: Int = 32 << 20, compression: AcceptedCompression? = nil
    ) {
        (testDescription, self.wire, self.messages, self.pongs) = (name, wire, messages, pongs)
        (self.end, self.limit, self.compression) = (end, limit, compression)
    }

    /// Returns the bytes of a frame without a mask.
    static func frame(_ opcode: UInt8, _ payload: Data = Data(), isFinal: Bool = true, reserved: UInt8 = 0) -> Data {
        var frame = Data([(isFinal ? 0x80 : 0) | reserved << 4 | opcode])
        let size = payload.count < 126 ? 0 : payload.count < 65_536 ? 2 : 8
        frame.append(size == 0 ? UInt8(payload.count) : size == 2 ? 126 : 127)
        for index in (0..<size).reversed() { frame.append(UInt8(truncatingIfNeeded: payload.count >> (8 * index))) }
        return frame + payload
    }

    static func frame(_ opcode: UInt8, _ text: String, isFinal: Bool = true, reserved: UInt8 = 0) -> Data {
        frame(opcode, Data(text.utf8), isFinal: isFinal, reserved: reserved)
    }

    /// Returns the bytes of a Close frame.
    static func close(_ code: UInt16, _ reason: String = "") -> Data { frame(0x8, closePayload(code, reason)) }

    static func closePayload(_ code: UInt16, _ reason: String = "") -> Data {
        Data([UInt8(code >> 8), UInt8(code & 0xFF)]) + Data(reason.utf8)
    }

    /// Returns a message in frames whose payloads have a size.
    static func fragments(_ opcode: UInt8, _ content: Data, by size: Int, reserved: UInt8 = 0) -> Data {
        var (wire, rest) = (Data(), content)
        repeat {
            let payload = Data(rest.prefix(size))
            rest = rest.dropFirst(size)
            let isFirst = wire.isEmpty
            wire += frame(isFirst ? opcode : 0, payload, isFinal: rest.isEmpty, reserved: isFirst ? reserved : 0)
        } while !rest.isEmpty
        return wire
    }
}
