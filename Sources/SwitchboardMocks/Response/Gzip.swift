import Foundation

/// Bytes in the gzip format ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), for answers that a client unpacks.
enum Gzip {
    /// Returns data in stored blocks: larger than before, and readable for every client.
    static func stored(_ data: Data) -> Data {
        var result = header
        var rest = data
        repeat {
            let block = rest.prefix(0xFFFF)
            rest = rest.dropFirst(block.count)
            result.append(rest.isEmpty ? 1 : 0)
            let length = UInt16(block.count)
            result.append(littleEndian: length)
            result.append(littleEndian: ~length)
            result += block
        } while !rest.isEmpty
        result.append(littleEndian: CRC32.checksum(of: data))
        result.append(littleEndian: UInt32(truncatingIfNeeded: data.count))
        return result
    }

    /// Magic number, deflate, no flags, no time, unknown system.
    static let header = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
}

extension Data {
    mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}

/// The checksum of gzip ([RFC 1952 §8](https://www.rfc-editor.org/rfc/rfc1952#section-8)).
enum CRC32 {
    private static let polynomial: UInt32 = 0xEDB8_8320

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in shift(crc) }
    }

    static func shift(_ crc: UInt32) -> UInt32 {
        crc & 1 == 0 ? crc >> 1 : polynomial ^ (crc >> 1)
    }

    static func checksum(of data: Data) -> UInt32 {
        ~data.reduce(~0) { crc, byte in table[Int(UInt8(truncatingIfNeeded: crc) ^ byte)] ^ (crc >> 8) }
    }
}
