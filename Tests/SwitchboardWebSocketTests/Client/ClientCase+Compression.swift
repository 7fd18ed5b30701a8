import Foundation
import SwitchboardPlatform
@testable import SwitchboardWebSocket

/// `permessage-deflate` ([RFC 7692](https://www.rfc-editor.org/rfc/rfc7692)). zlib compresses for the server.
extension ClientCase {
    private static func negotiation(_ own: Bool = true, _ server: Bool = true, bits: Int = 15) -> AcceptedCompression? {
        var offer = WebSocketCompression()
        offer.allowsClientContextTakeover = own
        var parameters: [(name: String, value: String?)] = [("client_max_window_bits", "\(bits)")]
        if !server { parameters.append(("server_no_context_takeover", nil)) }
        return try? AcceptedCompression(parameters, to: offer)
    }

    /// Returns ten messages of a size, in one or several frames each.
    private static func exchange(_ size: Int, _ negotiation: AcceptedCompression) -> (Data, [WebSocketMessage]) {
        guard
            let deflater = try? MessageDeflater(
                Zlib.loaded.get(), windowBits: 15, keepsContext: negotiation.allowsServerContextTakeover)
        else { return (Data(), []) }
        var (wire, messages) = (Data(), [WebSocketMessage]())
        for number in 0..<10 {
            let line = #"{"number":\#(number),"text":"switchboard"}"#
            let text = String(String(repeating: line, count: size / line.utf8.count + 1).prefix(size))
            messages.append(.text(text))
            let packed = deflater.compress(Data(text.utf8)) ?? Data()
            wire += fragments(0x1, packed, by: number % 2 == 0 ? packed.count : max(1, packed.count / 3), reserved: 4)
        }
        return (wire, messages)
    }

    static let compression: [ClientCase] =
        [(true, true), (true, false), (false, true), (false, false)].flatMap { own, server in
            [9, 12, 15].flatMap { bits in
                [0, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 131_072].compactMap { size -> ClientCase? in
                    guard let negotiation = negotiation(own, server, bits: bits) else { return nil }
                    let (wire, messages) = exchange(size, negotiation)
                    let name =
                        "\(size) bytes, window \(bits), contexts \(own ? "kept" : "dropped")/\(server ? "kept" : "dropped")"
                    return ClientCase(name, wire, messages, compression: negotiation)
                }
            }
        } + packed

    private static let hello = Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])

    /// Frames of RFC 7692 §7.2.3, and frames that break its rules.
    private static let packed: [ClientCase] = {
        let bomb =
            (try? MessageDeflater(Zlib.loaded.get(), windowBits: 15, keepsContext: false))?
            .compress(Data(count: 64 << 20)) ?? Data()
        let text = WebSocketMessage.text("Hello")
        let rows: [(String, Data, [WebSocketMessage], End)] = [
            ("one block", frame(0x1, hello, reserved: 4), [text], .normal),
            (
                "two fragments",
                frame(0x1, hello.prefix(3), isFinal: false, reserved: 4) + frame(0x0, hello.dropFirst(3)), [text],
                .normal
            ),
            (
                "a shared window",
                frame(0x1, hello, reserved: 4) + frame(0x1, Data([0xF2, 0x00, 0x11, 0x00, 0x00]), reserved: 4),
                [text, text], .normal
            ),
            (
                "no compression in a block",
                frame(0x1, Data([0x00, 0x05, 0x00, 0xFA, 0xFF]) + Data("Hello".utf8) + Data([0x00]), reserved: 4),
                [text], .normal
            ),
            (
                "a last block", frame(0x1, Data([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]), reserved: 4), [text],
                .normal
            ),
            (
                "two blocks",
                frame(
                    0x1, Data([0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]),
                    reserved: 4), [text],
                .normal
            ),
            ("an empty message", frame(0x1, Data([0x00]), reserved: 4), [.text("")], .normal),
            (
                "a message without compression", frame(0x1, "Hello") + frame(0x1, hello, reserved: 4), [text, text],
                .normal
            ),
            (
                "a continuation with the bit", frame(0x1, hello, isFinal: false, reserved: 4) + frame(0x0, reserved: 4),
                [], .refusal(1002)
            ),
            ("a ping with the bit", frame(0x9, hello, reserved: 4), [], .refusal(1002)),
            ("a Close with the bit", frame(0x8, reserved: 4), [], .refusal(1002)),
            ("another bit", frame(0x1, hello, reserved: 6), [], .refusal(1002)),
            ("a block of no type", frame(0x1, Data([0x07]), reserved: 4), [], .refusal(1007)),
            (
                "a reference to nothing", frame(0x1, Data([0xF2, 0x00, 0x11, 0x00, 0x00]), reserved: 4), [],
                .refusal(1007)
            ),
            (
                "a text that is not UTF-8", frame(0x1, Data([0x00, 0x01, 0x00, 0xFE, 0xFF, 0xFF, 0x00]), reserved: 4),
                [], .refusal(1007)
            ),
            ("64 MiB in \(bomb.count) bytes", frame(0x2, bomb, reserved: 4), [], .refusal(1009)),
        ]
        return rows.map { name, wire, messages, end in
            ClientCase(name, wire, messages, end: end, limit: 1 << 20, compression: negotiation())
        } + [
            ClientCase(
                "a ping amid a compressed message",
                frame(0x1, hello.prefix(3), isFinal: false, reserved: 4) + frame(0x9) + frame(0x0, hello.dropFirst(3)),
                [text],
                pongs: [Data()], compression: negotiation())
        ]
    }()
}
