import Foundation
@testable import SwitchboardWebSocket

/// Framing, control frames, reserved bits and opcodes ([RFC 6455
/// §5.2](https://www.rfc-editor.org/rfc/rfc6455#section-5.2), [§5.5](https://www.rfc-editor.org/rfc/rfc6455#section-5.5)).
extension ClientCase {
    /// Messages of each length of §5.2.
    static let framing: [ClientCase] = [0, 1, 2, 124, 125, 126, 127, 128, 65_534, 65_535, 65_536, 65_537].flatMap {
        count -> [ClientCase] in
        let text = String(repeating: "*", count: count)
        let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13 + 0xFE) })
        return [
            ClientCase("text of \(count)", frame(0x1, text), [.text(text)]),
            ClientCase("binary of \(count)", frame(0x2, data), [.binary(data)]),
        ]
    }

    /// Pings and pongs (§5.5.2, §5.5.3).
    static let pings: [ClientCase] = {
        let payloads: [(String, Data)] = [
            ("no payload", Data()), ("text", Data("Hello, world!".utf8)),
            ("bytes that are not UTF-8", Data([0x00, 0xFF, 0xFE, 0xFD, 0xFC, 0xFB, 0x00, 0xFF])),
            ("125 bytes", Data(repeating: 0xFE, count: 125)),
        ]
        let many = (0..<10).map { Data("payload \($0)".utf8) }
        let together = many.reduce(Data()) { $0 + frame(0x9, $1) }
        return payloads.map { ClientCase("a ping with \($0)", frame(0x9, $1), pongs: [$1]) }
            + payloads.map {
                ClientCase("an unsolicited pong, with \($0)", frame(0xA, $1) + frame(0x1, "next"), [.text("next")])
            } + [
                ClientCase("a ping of 126 bytes", frame(0x9, Data(count: 126)), end: .refusal(1002)),
                ClientCase("a ping of 65,536 bytes", frame(0x9, Data(count: 65_536)), end: .refusal(1002)),
                ClientCase("a pong of 126 bytes", frame(0xA, Data(count: 126)), end: .refusal(1002)),
                ClientCase("a pong and a ping", frame(0xA, "pong") + frame(0x9, "ping"), pongs: [Data("ping".utf8)]),
                ClientCase("ten pings", together, pongs: many),
                ClientCase(
                    "a ping between messages", frame(0x1, "a") + frame(0x9, "p") + frame(0x2, "b"),
                    [.text("a"), .binary(Data("b".utf8))], pongs: [Data("p".utf8)]),
            ]
    }()

    /// Each combination of reserved bits on each type of frame, without an extension.
    static let reservedBits: [ClientCase] = (1...7).flatMap { bits -> [ClientCase] in
        let bits = UInt8(bits)
        let frames: [(String, Data)] = [
            ("text", frame(0x1, "text", reserved: bits)), ("binary", frame(0x2, "data", reserved: bits)),
            ("continuation", frame(0x1, "be", isFinal: false) + frame(0x0, "gun", reserved: bits)),
            ("ping", frame(0x9, "ping", reserved: bits)), ("pong", frame(0xA, reserved: bits)),
            ("Close", frame(0x8, closePayload(1000), reserved: bits)),
        ]
        return frames.map { ClientCase("bits \(bits) on \($0)", $1, end: .refusal(1002)) } + [
            ClientCase(
                "bits \(bits) after a message", frame(0x1, "first") + frame(0x1, "second", reserved: bits),
                [.text("first")], end: .refusal(1002))
        ]
    }

    /// The opcodes without a meaning.
    static let opcodes: [ClientCase] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF].flatMap {
        (opcode: UInt8) -> [ClientCase] in
        [
            ClientCase("opcode \(opcode)", frame(opcode), end: .refusal(1002)),
            ClientCase("opcode \(opcode) with a payload", frame(opcode, "reserved"), end: .refusal(1002)),
            ClientCase(
                "opcode \(opcode) after a message", frame(0x1, "first") + frame(opcode, "r") + frame(0x9),
                [.text("first")], end: .refusal(1002)),
            ClientCase(
                "opcode \(opcode) amid a message", frame(0x1, "first", isFinal: false) + frame(opcode),
                end: .refusal(1002)),
        ]
    }
}
