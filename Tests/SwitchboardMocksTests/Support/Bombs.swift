import Foundation
import Switchboard

@testable import SwitchboardMocks

extension MockResponse {
    /// Creates a 200 whose gzip body expands to at least `count` zero bytes, from about a thousandth of that on the
    /// wire.
    static func gzipBomb(_ count: Int) -> MockResponse {
        .status(200, headers: ["Content-Encoding": "gzip"], body: Gzip.zeros(atLeast: count))
    }
}

extension WebSocketStep {
    /// Sends a compressed binary message of zeros, which is a thousand times as long as its frame. The response needs
    /// the field `Sec-WebSocket-Extensions: permessage-deflate`, and the client must offer it.
    static func bomb(_ size: Int = 1 << 30) -> WebSocketStep {
        // The deflate block of the gzip format, without its header and trailer.
        frame(0x2, Data(Gzip.zeros(atLeast: size).dropFirst(10).dropLast(8)), reserved: 4)
    }
}

extension MockFault {
    /// The faults whose bytes expand to a thousand times as many.
    static let bombs = [
        MockFault("gzip-bomb", "sends a gibibyte of zeros as a mebibyte of gzip", .gzipBomb(1 << 30), .responseTooLarge)
    ]
    static let webSocketBombs = [
        MockFault(
            "ws-bomb", "sends a gibibyte of zeros as a mebibyte of permessage-deflate",
            .webSocket(.bomb(), headers: ["Sec-WebSocket-Extensions": "permessage-deflate"]), .responseTooLarge)
    ]
}

private enum Gzip {
    /// Magic number, deflate, no flags, no time, unknown system.
    static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])

    /// Returns a gzip bomb: at least `count` zeros, in about a thousandth of their number.
    ///
    /// It is one deflate block ([RFC 1951 §3.2.7](https://www.rfc-editor.org/rfc/rfc1951#section-3.2.7)) whose alphabet
    /// has three symbols: the zero itself, "258 bytes as the one before", which takes two bits, and the end.
    static func zeros(atLeast count: Int) -> Data {
        let matches = (max(1, count) - 1 + 257) / 258
        var bits = BitWriter(header)
        bits.write(0b101, 3)  // last block, dynamic codes
        bits.write(29, 5)  // 286 lengths of literals: up to 285
        bits.write(0, 5)  // 1 length of distances
        bits.write(14, 4)  // 18 lengths of lengths
        // In the order 16 17 18 0 8 7 9 6 10 5 11 4 12 3 13 2 14 1: a code of 1 bit for 18, of 2 for 2 and for 1.
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.write(UInt64(length), 3) }
        let (one, two) = ("10", "11")
        bits.write(code: two)  // the zero, 0
        bits.writeZeros(138)
        bits.writeZeros(117)
        bits.write(code: two)  // the end, 256
        bits.writeZeros(28)
        bits.write(code: one)  // 258 bytes, 285
        bits.write(code: one)  // as the one before
        bits.write(code: "10")
        bits.writeZeroBits(2 * matches)
        bits.write(code: "11")
        // No client reads the checksum and the size, because the zeros exceed its limit.
        return bits.finish() + Data(count: 8)
    }
}

/// Writes bits from the lowest of a byte to the highest, as deflate packs them.
private struct BitWriter {
    private var bytes: Data
    private var pending: UInt64 = 0
    private var count = 0

    init(_ start: Data) {
        bytes = start
    }

    mutating func write(_ value: UInt64, _ width: Int) {
        pending |= value << UInt64(count)
        count += width
        while count >= 8 {
            bytes.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    /// Writes a Huffman code, first bit first.
    mutating func write(code: String) {
        for bit in code.utf8 { write(bit == UInt8(ascii: "1") ? 1 : 0, 1) }
    }

    /// Writes `number` code lengths of zero, 11 to 138: the symbol 18 followed by the number.
    mutating func writeZeros(_ number: UInt64) {
        write(code: "0")
        write(number - 11, 7)
    }

    mutating func writeZeroBits(_ number: Int) {
        let first = min(number, (8 - count) % 8)
        write(0, first)
        bytes.append(Data(count: (number - first) / 8))
        write(0, (number - first) % 8)
    }

    mutating func finish() -> Data {
        if count > 0 { write(0, 8 - count) }
        return bytes
    }
}
