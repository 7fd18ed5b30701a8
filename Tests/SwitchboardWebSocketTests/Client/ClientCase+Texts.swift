import Foundation
@testable import SwitchboardWebSocket

/// UTF-8 ([RFC 6455 §8.1](https://www.rfc-editor.org/rfc/rfc6455#section-8.1), [RFC 3629
/// §4](https://www.rfc-editor.org/rfc/rfc3629#section-4)).
extension ClientCase {
    /// The first and the last character of each length, those next to the surrogates, and all noncharacters.
    private static let valid: [(String, Data)] = {
        let boundaries: [UInt32] = [
            0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0x1_0000, 0xF_FFFF, 0x10_0000, 0x10_FFFF, 0xFDD0,
            0xFDEF,
            0xFEFF,
        ]
        let noncharacters = (UInt32(0)...16).flatMap { [$0 << 16 | 0xFFFE, $0 << 16 | 0xFFFF] }
        return Set(boundaries + noncharacters).sorted().compactMap(Unicode.Scalar.init).map {
            ("U+\(String($0.value, radix: 16, uppercase: true))", Data(String($0).utf8))
        } + [("κόσμε", Data("κόσμε".utf8)), ("characters of each length", Data("aé€🌍".utf8))]
    }()

    /// Bytes that no text has, by the table of RFC 3629 §4.
    private static let invalid: [[UInt8]] = [
        // Continuation bytes without a first byte.
        [0x80], [0xBF], [0x80, 0xBF], [0x80, 0xBF, 0x80], [0x61, 0x80, 0x61],
        // First bytes without continuation bytes.
        [0xC2, 0x20], [0xDF, 0x20], [0xE0, 0x20], [0xEF, 0x20], [0xF0, 0x20], [0xF4, 0x20], [0xC2], [0xE0], [0xF4],
        // Sequences that lack their last byte.
        [0xC3], [0xE0, 0xA0], [0xEF, 0xBF], [0xF0, 0x90, 0x80], [0xF4, 0x8F, 0xBF], [0xE2, 0x82, 0x41],
        [0xF0, 0x9F, 0x98, 0x41],
        // Bytes that never occur.
        [0xC0], [0xC1], [0xF5], [0xF6], [0xF7], [0xF8], [0xFC], [0xFE], [0xFF], [0xFE, 0xFE, 0xFF, 0xFF],
        // Overlong forms.
        [0xC0, 0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x80, 0xAF], [0xE0, 0x9F, 0xBF],
        [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x8F, 0xBF, 0xBF],
        // Forms of five and six bytes, and characters above U+10FFFF.
        [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFC, 0x84, 0x80, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80],
        [0xF7, 0xBF, 0xBF, 0xBF],
        // Surrogates, alone and in pairs.
        [0xED, 0xA0, 0x80], [0xED, 0xAD, 0xBF], [0xED, 0xAE, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80],
        [0xED, 0xBE, 0x80],
        [0xED, 0xBF, 0xBF], [0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80], [0xED, 0xAD, 0xBF, 0xED, 0xBF, 0xBF],
    ]

    static let texts: [ClientCase] =
        valid.map { name, bytes in
            ClientCase(name, frame(0x1, bytes), [.text(String(decoding: bytes, as: UTF8.self))])
        }
        + valid.map { name, bytes in
            ClientCase(
                "\(name) in fragments of a byte", fragments(0x1, bytes, by: 1),
                [.text(String(decoding: bytes, as: UTF8.self))])
        }
        + invalid.map { bytes in
            ClientCase("\(digits(bytes))", frame(0x1, Data(bytes)), end: .refusal(1007))
        }
        + invalid.map { bytes in
            ClientCase(
                "\(digits(bytes)) in fragments of a byte", fragments(0x1, Data(bytes), by: 1), end: .refusal(1007))
        } + [
            ClientCase(
                "a wrong byte in a text whose rest never arrives", frame(0x1, Data([0x61, 0xFF, 0x62])).dropLast(),
                end: .refusal(1007)),
            ClientCase(
                "a wrong byte in a fragment whose message never ends",
                frame(0x1, Data([0xCE, 0xBA, 0xFF]), isFinal: false),
                end: .refusal(1007)),
            ClientCase(
                "a ping inside a character",
                frame(0x1, Data([0xC3]), isFinal: false) + frame(0x9) + frame(0x0, Data([0xA9])),
                [.text("é")], pongs: [Data()]),
            ClientCase(
                "the same bytes as a binary message", frame(0x2, Data([0xC0, 0x80, 0xFF])),
                [.binary(Data([0xC0, 0x80, 0xFF]))]),
        ]

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String($0, radix: 16, uppercase: true) }.joined(separator: " ")
    }
}
