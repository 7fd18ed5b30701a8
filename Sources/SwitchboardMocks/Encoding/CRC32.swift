import Foundation

/// The checksum of gzip ([RFC 1952 §8](https://www.rfc-editor.org/rfc/rfc1952#section-8)).
enum CRC32 {
    private static let polynomial: UInt32 = 0xEDB8_8320

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in shift(crc) }
    }

    private static func shift(_ crc: UInt32) -> UInt32 {
        crc & 1 == 0 ? crc >> 1 : polynomial ^ (crc >> 1)
    }

    static func checksum(of data: Data) -> UInt32 {
        ~data.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }

    /// Returns the checksum of `count` zeros, in as many steps as the number has bits. The effect of a zero bit on a
    /// checksum is linear, so twice as many zeros are the square of a matrix over GF(2).
    static func checksum(ofZeros count: Int) -> UInt32 {
        var matrix = (0..<32).map { shift(1 << UInt32($0)) }
        var crc: UInt32 = ~0
        var bits = count * 8
        while bits > 0 {
            if bits & 1 == 1 { crc = apply(matrix, crc) }
            matrix = matrix.map { apply(matrix, $0) }
            bits >>= 1
        }
        return ~crc
    }

    private static func apply(_ matrix: [UInt32], _ crc: UInt32) -> UInt32 {
        (0..<32).reduce(0) { sum, bit in crc >> UInt32(bit) & 1 == 1 ? sum ^ matrix[bit] : sum }
    }
}
