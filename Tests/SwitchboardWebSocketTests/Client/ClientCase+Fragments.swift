import Foundation
@testable import SwitchboardWebSocket

/// Fragmentation ([RFC 6455 §5.4](https://www.rfc-editor.org/rfc/rfc6455#section-5.4)), and the closing handshake
/// ([§5.5.1](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.1), [§7](https://www.rfc-editor.org/rfc/rfc6455#section-7)).
extension ClientCase {
    private static let (one, two) = (Data("fragment1".utf8), Data("fragment2".utf8))
    private static let whole = WebSocketMessage.text("fragment1fragment2")
    private static let first = frame(0x1, one, isFinal: false)
    private static let last = frame(0x0, two)

    static let fragmentation: [ClientCase] = [
        ClientCase("a text in two fragments", first + last, [whole]),
        ClientCase(
            "a binary message in two", frame(0x2, one, isFinal: false) + last, [.binary(one + two)]),
        ClientCase("a ping in between", first + frame(0x9, "p") + last, [whole], pongs: [Data("p".utf8)]),
        ClientCase("a pong in between", first + frame(0xA, "p") + last, [whole]),
        ClientCase(
            "five fragments and two pings",
            frame(0x1, "a", isFinal: false) + frame(0x0, "b", isFinal: false) + frame(0x9, "1")
                + frame(0x0, "c", isFinal: false) + frame(0x0, "d", isFinal: false) + frame(0x9, "2") + frame(0x0, "e"),
            [.text("abcde")], pongs: [Data("1".utf8), Data("2".utf8)]),
        ClientCase(
            "empty fragments", frame(0x1, isFinal: false) + frame(0x0, isFinal: false) + frame(0x0), [.text("")]),
        ClientCase(
            "an empty fragment in the middle", first + frame(0x0, isFinal: false) + last, [whole]),
        ClientCase("an empty last fragment", first + frame(0x0), [.text("fragment1")]),
        ClientCase("two messages in fragments", first + last + first + last, [whole, whole]),
        ClientCase("a fragment a byte", fragments(0x2, one + two, by: 1), [.binary(one + two)]),
        ClientCase("a ping in fragments", frame(0x9, "a", isFinal: false) + frame(0x0, "b"), end: .refusal(1002)),
        ClientCase("a pong in fragments", frame(0xA, "a", isFinal: false) + frame(0x0, "b"), end: .refusal(1002)),
        ClientCase("a Close in fragments", frame(0x8, closePayload(1000), isFinal: false), end: .refusal(1002)),
        ClientCase("a last fragment of nothing", last + frame(0x1, "next"), end: .refusal(1002)),
        ClientCase("a fragment of nothing", frame(0x0, one, isFinal: false) + last, end: .refusal(1002)),
        ClientCase(
            "a fragment after a whole message", frame(0x1, one) + last, [.text("fragment1")], end: .refusal(1002)),
        ClientCase("a fragment after the last one", first + last + last, [whole], end: .refusal(1002)),
        ClientCase("a text amid a text", first + frame(0x1, two), end: .refusal(1002)),
        ClientCase("a binary message amid a text", first + frame(0x2, two), end: .refusal(1002)),
        ClientCase(
            "a text amid a binary message", frame(0x2, one, isFinal: false) + frame(0x1, two), end: .refusal(1002)),
        ClientCase(
            "a fragment of a new text amid a text", first + frame(0x1, two, isFinal: false) + last, end: .refusal(1002)),
    ]

    // MARK: Closing

    private static let bye = closePayload(1000, "bye")
    private static let acceptedCodes: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
    ]
    private static let refusedCodes: [UInt16] = [
        0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ]

    /// A Close frame is answered with its code, and nothing after it counts.
    static let closing: [ClientCase] =
        acceptedCodes.map {
            ClientCase("code \($0)", close($0, "reason"), end: .close(closePayload($0)))
        }
        + refusedCodes.map {
            ClientCase("refused code \($0)", close($0, "reason"), end: .refusal(1002))
        } + [
            ClientCase("no code", frame(0x8), end: .close(Data())),
            ClientCase("half a code", frame(0x8, Data([0x03])), end: .refusal(1002)),
            ClientCase("a code without a reason", close(1000), end: .close(closePayload(1000))),
            ClientCase(
                "a reason of 123 bytes", close(1000, String(repeating: "x", count: 123)),
                end: .close(closePayload(1000))),
            ClientCase("a reason of 124 bytes", close(1000, String(repeating: "x", count: 124)), end: .refusal(1002)),
            ClientCase("a reason in UTF-8", close(1000, "κόσμε 🌍"), end: .close(closePayload(1000))),
            ClientCase(
                "a reason that is not UTF-8", frame(0x8, closePayload(1000) + Data([0xCE, 0xBA, 0xED, 0xA0, 0x80])),
                end: .refusal(1007)),
            ClientCase(
                "half a character as the reason", frame(0x8, closePayload(1000) + Data([0xE2, 0x82])),
                end: .refusal(1007)),
            ClientCase(
                "after a message", frame(0x1, "m") + frame(0x8, bye), [.text("m")], end: .close(closePayload(1000))),
            ClientCase("amid a message", first + frame(0x8, bye) + last, end: .close(closePayload(1000))),
            ClientCase(
                "after 256 KiB", frame(0x2, Data(count: 262_144)) + frame(0x8, bye) + frame(0x9),
                [.binary(Data(count: 262_144))],
                end: .close(closePayload(1000))),
            ClientCase("then a text", frame(0x8, bye) + frame(0x1, "late"), end: .close(closePayload(1000))),
            ClientCase("then a ping", frame(0x8, bye) + frame(0x9, "late"), end: .close(closePayload(1000))),
            ClientCase("twice", frame(0x8, bye) + close(1001), end: .close(closePayload(1000))),
            ClientCase(
                "then bytes that break the rules", frame(0x8, bye) + Data(repeating: 0xFF, count: 50),
                end: .close(closePayload(1000))),
        ]
}
