import Foundation
@testable import SwitchboardWebSocket

/// Limits ([RFC 6455 §10.4](https://www.rfc-editor.org/rfc/rfc6455#section-10.4)), large messages and many of them.
extension ClientCase {
    /// Returns a header that announces a length in eight bytes.
    private static func announcing(_ length: UInt64) -> Data {
        Data([0x82, 127]) + withUnsafeBytes(of: length.bigEndian) { Data($0) }
    }

    static let limits: [ClientCase] = [
        ClientCase("as long as the limit", frame(0x2, Data(count: 1_000)), [.binary(Data(count: 1_000))], limit: 1_000),
        ClientCase("a byte longer", frame(0x2, Data(count: 1_001)), end: .refusal(1009), limit: 1_000),
        ClientCase("a byte longer, at its header", Data([0x82, 126, 0x03, 0xE9]), end: .refusal(1009), limit: 1_000),
        ClientCase(
            "fragments as long as the limit", fragments(0x2, Data(count: 1_000), by: 300),
            [.binary(Data(count: 1_000))],
            limit: 1_000),
        ClientCase(
            "fragments a byte longer", fragments(0x2, Data(count: 1_001), by: 300), end: .refusal(1009), limit: 1_000),
        ClientCase(
            "messages that together exceed the limit", frame(0x2, Data(count: 900)) + frame(0x2, Data(count: 900)),
            [.binary(Data(count: 900)), .binary(Data(count: 900))], limit: 1_000),
        ClientCase(
            "control frames amid a message at the limit",
            frame(0x2, Data(count: 500), isFinal: false) + frame(0x9, Data(count: 125)) + frame(0x0, Data(count: 500)),
            [.binary(Data(count: 1_000))], pongs: [Data(count: 125)], limit: 1_000),
        ClientCase("an empty message with the limit 0", frame(0x1), [.text("")], limit: 0),
        ClientCase("a byte with the limit 0", frame(0x1, "a"), end: .refusal(1009), limit: 0),
        ClientCase("the greatest length", announcing(UInt64(Int64.max)), end: .refusal(1009)),
        ClientCase("a length of 64 bits", announcing(UInt64.max), end: .refusal(1002)),
        ClientCase("a length with the first bit", announcing(1 << 63), end: .refusal(1002)),
        ClientCase("125 in two bytes", Data([0x82, 126, 0, 125]) + Data(count: 125), end: .refusal(1002)),
        ClientCase("65,535 in eight bytes", announcing(65_535), end: .refusal(1002)),
    ]

    private static func content(_ count: Int) -> Data { Data(repeating: 0x2A, count: count) }

    private static func both(_ name: String, _ count: Int, _ wire: (UInt8, Data) -> Data) -> [ClientCase] {
        let content = content(count)
        return [
            ClientCase("text \(name)", wire(0x1, content), [.text(String(decoding: content, as: UTF8.self))]),
            ClientCase("binary \(name)", wire(0x2, content), [.binary(content)]),
        ]
    }

    static let large: [ClientCase] =
        [64, 256, 1_024, 4_096].flatMap { count in
            both("of \(count) KiB", count << 10) { frame($0, $1) }
        }
        + [64, 256, 1_024, 4_096, 16_384, 65_536, 262_144].flatMap { size in
            both("of 1 MiB in fragments of \(size)", 1 << 20) { fragments($0, $1, by: size) }
        }
        + [0, 16, 64, 256, 1_024, 4_096].map { size in
            let messages = Array(repeating: WebSocketMessage.binary(content(size)), count: 500)
            let wire = messages.reduce(Data()) { wire, _ in wire + frame(0x2, content(size)) }
            return ClientCase("500 messages of \(size)", wire, messages)
        }
}
