/// Percent-encoding ([RFC 3986 §2.1](https://www.rfc-editor.org/rfc/rfc3986#section-2.1)) into a byte buffer.
extension [UInt8] {
    /// Appends `text`. Bytes outside `allowed` become `%XX` in upper case. With `plusForSpace`, a space becomes `+`.
    package mutating func appendEscaped(_ text: String, allowed: ASCIISet, plusForSpace: Bool = false) {
        var text = text
        text.withUTF8 { bytes in
            guard let first = bytes.firstIndex(where: { !allowed.contains($0) }) else {
                return append(contentsOf: bytes)
            }
            var start = 0
            for index in first..<bytes.count where !allowed.contains(bytes[index]) {
                append(contentsOf: bytes[start..<index])
                start = index + 1
                if plusForSpace, bytes[index] == .space { append(.plus) } else { appendEscape(bytes[index]) }
            }
            append(contentsOf: bytes[start...])
        }
    }

    /// Appends `text` without escaping twice. Bytes outside `allowed` become `%XX`, but a valid `%XX` in the text stays
    /// as it is.
    package mutating func appendEscapedOnce(_ text: String, allowed: ASCIISet, escapesUnicode: Bool = true) {
        var text = text
        text.withUTF8 { appendEscapedOnce($0, allowed: allowed, escapesUnicode: escapesUnicode) }
    }

    /// Appends bytes without escaping twice.
    package mutating func appendEscapedOnce(
        _ bytes: UnsafeBufferPointer<UInt8>, allowed: ASCIISet, escapesUnicode: Bool = true
    ) {
        guard bytes.contains(where: { !allowed.contains($0) }) else { return append(contentsOf: bytes) }
        var start = 0
        for (index, byte) in bytes.enumerated() where !allowed.contains(byte) && (byte < 0x80 || escapesUnicode) {
            if byte == .percent, bytes[(index + 1)...].prefix(2).isHexPair { continue }
            append(contentsOf: bytes[start..<index])
            start = index + 1
            appendEscape(byte)
        }
        append(contentsOf: bytes[start...])
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(.percent)
        append(Self.upperHex[Int(byte >> 4)])
        append(Self.upperHex[Int(byte & 15)])
    }

    private static let upperHex = Array("0123456789ABCDEF".utf8)
}

extension Collection<UInt8> {
    @inlinable package var isHexPair: Bool {
        count == 2 && allSatisfy(ASCIISet.hexDigits.contains)
    }

    /// The bytes with each percent-encoded byte decoded. A percent sign that begins no escape stays.
    package var percentDecoded: [UInt8] {
        var rest = Array(self)[...]
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rest.count)
        while let byte = rest.popFirst() {
            let pair = rest.prefix(2)
            if byte == .percent, pair.count == 2, let high = pair.first?.hexValue, let low = pair.last?.hexValue {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    /// Whether the bytes are `.` or `..` with at least one dot escaped.
    package var isEscapedDots: Bool {
        guard contains(.percent), count <= 6 else { return false }
        let text = String(decoding: percentDecoded, as: UTF8.self)
        return text == "." || text == ".."
    }
}

extension String {
    /// Returns the text percent-encoded, as ``Swift/Array/appendEscaped(_:allowed:plusForSpace:)`` does.
    package func percentEncoded(allowed: ASCIISet = .unreserved, plusForSpace: Bool = false) -> String {
        var bytes: [UInt8] = []
        bytes.appendEscaped(self, allowed: allowed, plusForSpace: plusForSpace)
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The text with each percent-encoded byte decoded, as ISO 8859-1 if the bytes are not UTF-8. A percent sign that
    /// begins no escape stays.
    package var percentDecoded: String {
        String(utf8OrLatin1: utf8.percentDecoded)
    }
}

extension UInt8 {
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
