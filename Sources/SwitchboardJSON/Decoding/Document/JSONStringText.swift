/// Unescapes strings that the parser has validated.
enum JSONStringText {
    /// Returns the value of a hexadecimal digit, or 16 for any other byte.
    @inline(__always)
    static func hexadecimal(_ byte: UInt8) -> UInt32 {
        let digit = UInt32(byte &- UInt8(ascii: "0"))
        if digit < 10 { return digit }
        let letter = UInt32((byte | 0x20) &- UInt8(ascii: "a"))
        return letter < 6 ? letter + 10 : 16
    }

    static func string(_ bytes: UnsafeBufferPointer<UInt8>, isEscaped: Bool) -> String {
        if !isEscaped { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: bytes.count) { unescape(bytes, into: $0) }
    }

    /// Writes the unescaped text, which is never longer than the input. Returns its length in bytes.
    static func unescape(_ bytes: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var read = 0
        var written = 0
        while read < bytes.count {
            // Copies eight bytes at a time up to the next escape. `written` never exceeds `read`.
            while read + 8 <= bytes.count {
                let word = UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped + read).loadUnaligned(as: UInt64.self)
                let other = word ^ 0x5C5C_5C5C_5C5C_5C5C
                if (other &- 0x0101_0101_0101_0101) & ~other & 0x8080_8080_8080_8080 != 0 { break }
                UnsafeMutableRawPointer(output.baseAddress.unsafelyUnwrapped + written)
                    .storeBytes(of: word, as: UInt64.self)
                read += 8
                written += 8
            }
            guard read < bytes.count else { break }
            let byte = bytes[read]
            if byte != UInt8(ascii: "\\") {
                output[written] = byte
                read += 1
                written += 1
                continue
            }
            let kind = bytes[read + 1]
            read += 2
            guard kind == UInt8(ascii: "u") else {
                output[written] = control(kind)
                written += 1
                continue
            }
            var scalar = unit(bytes, read)
            read += 4
            if scalar & 0xFC00 == 0xD800 {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + unit(bytes, read + 2) & 0x3FF
                read += 6
            }
            for byte in UTF8.encode(Unicode.Scalar(scalar) ?? "\u{FFFD}") ?? UTF8.encodedReplacementCharacter {
                output[written] = byte
                written += 1
            }
        }
        return written
    }

    private static func unit(_ bytes: UnsafeBufferPointer<UInt8>, _ offset: Int) -> UInt32 {
        (offset..<offset + 4).reduce(0) { $0 << 4 | hexadecimal(bytes[$1]) & 15 }
    }

    private static func control(_ kind: UInt8) -> UInt8 {
        switch kind {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: kind
        }
    }
}
