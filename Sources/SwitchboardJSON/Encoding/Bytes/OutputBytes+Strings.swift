import Foundation

extension OutputBytes {
    /// Appends a string in quotation marks, escaped as RFC 8259 §7 requires.
    @inline(__always)
    mutating func append(_ text: String, escapesSlashes: Bool) {
        text.withBytes { _ = appendQuoted($0, escapesSlashes: escapesSlashes) }
    }

    @inline(__always)
    mutating func appendName(_ name: String, escapesSlashes: Bool) -> OutputName {
        name.withBytes { source in
            guard appendQuoted(source, escapesSlashes: escapesSlashes) else {
                return OutputName(hash: .max, isPlain: false)
            }
            let length = source.count
            // The name has just been written, with at least eight more bytes of memory after its first byte.
            let name = UnsafeRawPointer(end) - (length &+ 1)
            var first = name.loadUnaligned(as: UInt64.self).littleEndian
            var last: UInt64 = 0
            if length < 8 {
                first &= (1 &<< UInt64(length &* 8)) &- 1
            } else {
                last = name.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self).littleEndian
            }
            let mixed =
                (first &* 0x9E37_79B9_7F4A_7C15) ^ (last &* 0xC2B2_AE3D_27D4_EB4F) &+ UInt64(truncatingIfNeeded: length)
            return OutputName(hash: UInt32(truncatingIfNeeded: mixed >> 33), isPlain: true)
        }
    }

    /// Appends bytes in quotation marks.
    ///
    /// - Returns: True when all bytes are ASCII and none needs an escape.
    @inline(never)
    private mutating func appendQuoted(_ source: UnsafeBufferPointer<UInt8>, escapesSlashes: Bool) -> Bool {
        let length = source.count
        // Sixteen extra bytes: for two quotation marks, and for a last store of eight bytes that exceeds the text.
        reserve(length &+ 16)
        let text = end + 1
        text[-1] = UInt8(ascii: "\"")
        guard let start = source.baseAddress else {
            appendQuote(at: text)
            return true
        }
        let slash = SIMD16<UInt8>(repeating: escapesSlashes ? UInt8(ascii: "/") : UInt8(ascii: "\""))
        let bytes = UnsafeRawPointer(start)
        let output = UnsafeMutableRawPointer(text)
        var all: SIMD2<UInt64>
        if length >= 16 {
            // The last part overlaps the one before, so that no part is shorter.
            let last = length &- 16
            var index = 0
            all = SIMD2()
            while true {
                let part = bytes.loadUnaligned(fromByteOffset: index, as: SIMD2<UInt64>.self)
                if Self.hasSpecials(part, slash: slash) {
                    return appendSpecial(source, from: index, text: text + index, escapesSlashes: escapesSlashes)
                }
                output.storeBytes(of: part, toByteOffset: index, as: SIMD2<UInt64>.self)
                all |= part
                if index == last { break }
                index = min(index &+ 16, last)
            }
        } else {
            let first, last: UInt64
            if length >= 8 {
                first = bytes.loadUnaligned(as: UInt64.self)
                last = bytes.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
            } else {
                first = Self.word(bytes, width: length).littleEndian
                last = first
            }
            all = SIMD2(first, last)
            if Self.hasSpecials(all, slash: slash) {
                return appendSpecial(source, from: 0, text: text, escapesSlashes: escapesSlashes)
            }
            output.storeBytes(of: first, as: UInt64.self)
            if length >= 8 { output.storeBytes(of: last, toByteOffset: length &- 8, as: UInt64.self) }
        }
        appendQuote(at: text + length)
        return (all[0] | all[1]) & Self.highBits == 0
    }

    @inline(__always)
    private mutating func appendQuote(at end: UnsafeMutablePointer<UInt8>) {
        end[0] = UInt8(ascii: "\"")
        count = end - base + 1
    }

    /// Appends the rest of a string with bytes that need an escape, and the quotation mark. Returns false.
    @inline(never)
    private mutating func appendSpecial(
        _ source: UnsafeBufferPointer<UInt8>, from first: Int, text: UnsafeMutablePointer<UInt8>, escapesSlashes: Bool
    ) -> Bool {
        let length = source.count
        guard let start = source.baseAddress else { return false }
        let bytes = UnsafeRawPointer(start)
        let slash = escapesSlashes ? Self.slashes : Self.quotes
        var out = text
        var index = first
        while index < length {
            let width = min(length &- index, 8)
            let word =
                width == 8
                ? UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self))
                : Self.word(bytes + index, width: width)
            if Self.specials(in: word, slash: slash) == 0 {
                UnsafeMutableRawPointer(out).storeBytes(of: word.littleEndian, as: UInt64.self)
                out += width
            } else {
                count = out - base
                appendEscaped(word, width: width, escapesSlashes: escapesSlashes)
                reserve(length &- index &+ 16)
                out = end
            }
            index &+= width
        }
        appendQuote(at: out)
        return false
    }

    /// Returns whether a byte is a control character, a quotation mark, a backslash or `slash`.
    ///
    /// Each operand is a vector, because the compiler has no instruction for a vector and a single byte.
    @inline(__always)
    private static func hasSpecials(_ bytes: SIMD2<UInt64>, slash: SIMD16<UInt8>) -> Bool {
        let bytes = unsafeBitCast(bytes, to: SIMD16<UInt8>.self)
        let quote = SIMD16<UInt8>(repeating: UInt8(ascii: "\""))
        let backslash = SIMD16<UInt8>(repeating: UInt8(ascii: "\\"))
        let space = SIMD16<UInt8>(repeating: 0x20)
        let specials = (bytes .== quote) .| (bytes .== backslash) .| (bytes .== slash) .| (bytes .< space)
        let words = unsafeBitCast(specials, to: SIMD2<UInt64>.self)
        return words[0] | words[1] != 0
    }

    private static var highBits: UInt64 { 0x8080_8080_8080_8080 }
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var quotes: UInt64 { 0x2222_2222_2222_2222 }
    private static var slashes: UInt64 { 0x2F2F_2F2F_2F2F_2F2F }

    /// Returns fewer than eight bytes of the source, the first one lowest, with spaces in place of the other bytes.
    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, width: Int) -> UInt64 {
        let spaces: UInt64 = 0x2020_2020_2020_2020 &<< UInt64(width &* 8)
        if width >= 4 {
            let low = UInt32(littleEndian: bytes.loadUnaligned(as: UInt32.self))
            let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: width &- 4, as: UInt32.self))
            return UInt64(low) | UInt64(high) &<< UInt64((width &- 4) &* 8) | spaces
        }
        guard width > 0 else { return spaces }
        let low = UInt64(bytes.load(as: UInt8.self))
        let middle = UInt64(bytes.load(fromByteOffset: width &>> 1, as: UInt8.self)) &<< UInt64((width &>> 1) &* 8)
        let high = UInt64(bytes.load(fromByteOffset: width &- 1, as: UInt8.self)) &<< UInt64((width &- 1) &* 8)
        return low | middle | high | spaces
    }

    /// Returns a nonzero word when a byte is a control character, a quotation mark, a backslash or that of `slash`.
    @inline(__always)
    private static func specials(in word: UInt64, slash: UInt64) -> UInt64 {
        // The subtraction sets the high bit of an ASCII byte only when that byte matches or a lower byte does.
        let quote = (word ^ quotes) &- ones
        let backslash = (word ^ 0x5C5C_5C5C_5C5C_5C5C) &- ones
        let solidus = (word ^ slash) &- ones
        let control = word &- 0x2020_2020_2020_2020
        return (quote | backslash | solidus | control) & ~word & highBits
    }

    @inline(never)
    private mutating func appendEscaped(_ word: UInt64, width: Int, escapesSlashes: Bool) {
        reserve(48)
        for position in 0..<width {
            let byte = UInt8(truncatingIfNeeded: word >> UInt64(position * 8))
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): appendPair(byte)
            case UInt8(ascii: "/") where escapesSlashes: appendPair(byte)
            case 0x0A: appendPair(UInt8(ascii: "n"))
            case 0x0D: appendPair(UInt8(ascii: "r"))
            case 0x09: appendPair(UInt8(ascii: "t"))
            case 0x08: appendPair(UInt8(ascii: "b"))
            case 0x0C: appendPair(UInt8(ascii: "f"))
            case 0..<0x20:
                append("\\u00")
                append(UInt8(ascii: "0") + byte >> 4)
                append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
            default: append(byte)
            }
        }
    }

    private mutating func appendPair(_ byte: UInt8) {
        append(UInt8(ascii: "\\"))
        append(byte)
    }

    /// Returns the unescaped name that ``appendName(_:escapesSlashes:)`` wrote. The range excludes the quotation marks.
    func name(in range: Range<Int>) -> String {
        JSONStringText.string(UnsafeBufferPointer(rebasing: buffer[range]), isEscaped: true)
    }
}

/// The properties of a name that ``OutputBytes/appendName(_:escapesSlashes:)`` computes while it writes the name.
struct OutputName {
    /// The hash of a plain name. All other names have the same hash.
    var hash: UInt32
    /// Whether the name is ASCII without escapes, so that its written bytes can be compared directly.
    var isPlain: Bool
}
