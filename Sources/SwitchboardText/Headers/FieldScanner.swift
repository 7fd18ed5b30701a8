/// Reads the value of a header field from left to right: words, quoted strings, and elements separated by commas.
package struct FieldScanner {
    private let bytes: [UInt8]
    private var index = 0

    package init(_ field: String) {
        bytes = Array(field.utf8)
    }

    /// The next byte, or nil at the end.
    package var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Skips the next byte.
    package mutating func advance() { index += 1 }

    /// Skips blanks. Returns whether it skipped any.
    @discardableResult
    package mutating func skipBlanks() -> Bool {
        let start = index
        while current?.isBlank == true { index += 1 }
        return index > start
    }

    /// Skips everything up to the next comma outside of quotes, and the comma.
    package mutating func skipToComma() {
        while let byte = current {
            if byte == .quote {
                _ = quotedString()
                continue
            }
            index += 1
            if byte == .comma { return }
        }
    }

    /// Reads the bytes up to the first that is not a member.
    package mutating func text(while isMember: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = current, isMember(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// Reads a `quoted-string` ([RFC 9110 §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4)) at its first
    /// quote. `isClosed` is false when the second quote is missing.
    package mutating func quotedString() -> (text: String, isClosed: Bool) {
        var output: [UInt8] = []
        var isClosed = false
        index += 1
        while !isClosed, let byte = current {
            index += 1
            switch byte {
            case .quote: isClosed = true
            case .backslash:
                guard let escaped = current else { break }
                index += 1
                output.append(escaped)
            default: output.append(byte)
            }
        }
        return (String(decoding: output, as: UTF8.self), isClosed)
    }
}
