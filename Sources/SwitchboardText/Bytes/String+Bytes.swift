import Foundation

extension String {
    /// Creates a string from UTF-8, or from ISO 8859-1 if the bytes are not valid UTF-8 ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    @inlinable
    package init(utf8OrLatin1 bytes: some Collection<UInt8>) {
        self = String(bytes: bytes, encoding: .utf8) ?? String(decoding: bytes.map(UInt16.init), as: UTF16.self)
    }

    /// Returns the text with ASCII bytes replaced by texts. It compares bytes, because a quote with a combining mark is a
    /// `Character` that does not equal a quote.
    package func replacingBytes(_ texts: [UInt8: String]) -> String {
        guard utf8.contains(where: { texts[$0] != nil }) else { return self }
        var result: [UInt8] = []
        for byte in utf8 {
            if let text = texts[byte] { result += text.utf8 } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Compares two texts, ignoring the case of ASCII letters.
    @inlinable
    package func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count && hasSameLetters(as: other)
    }

    @usableFromInline
    func hasSameLetters(as other: String) -> Bool {
        let isSame = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other in
                one.indices.allSatisfy { one[$0] == other[$0] || one[$0].lowercased == other[$0].lowercased }
            }
        }
        // Strings from Foundation may not be contiguous.
        return (isSame ?? nil) ?? zip(utf8, other.utf8).allSatisfy { $0.lowercased == $1.lowercased }
    }

    /// The FNV-1a hash of the bytes, which each process computes alike.
    package var stableHash: UInt64 {
        utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// Returns whether the texts are equal. The time does not depend on the number of equal bytes.
    package func isEqualInConstantTime(to other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Returns whether the text consists of these bytes.
    package func hasBytes(of bytes: UnsafeRawBufferPointer) -> Bool {
        guard utf8.count == bytes.count, let start = bytes.baseAddress else { return utf8.isEmpty && bytes.isEmpty }
        var text = self
        return text.withUTF8 { $0.baseAddress.map { memcmp($0, start, bytes.count) == 0 } ?? true }
    }

    /// Returns whether the bytes are equal. `==` also accepts another encoding of the same character.
    package func hasBytes(of other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { one in
            other.utf8.withContiguousStorageIfAvailable { other in
                guard let left = one.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
        // Strings from Foundation may not be contiguous.
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

/// A text that equals only a text of the same bytes. Strings also equal another encoding of the same character.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: ExactText, other: ExactText) -> Bool { one.text.hasBytes(of: other.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension StringProtocol {
    /// Returns the pieces between the occurrences of an ASCII byte, including empty ones.
    package func pieces(between separator: UInt8) -> [SubSequence] {
        utf8.split(separator: separator, omittingEmptySubsequences: false).map { self[$0.startIndex..<$0.endIndex] }
    }

    /// Returns the text before the first of these ASCII bytes, or the whole text. A slash with a combining mark is a
    /// `Character` that does not equal a slash.
    package func prefix(before ends: UInt8...) -> SubSequence {
        self[..<(utf8.firstIndex { ends.contains($0) } ?? endIndex)]
    }
}

extension Substring {
    package var trimmedOfBlanks: String { String(decoding: utf8.trimmedOfBlanks, as: UTF8.self) }
}

extension String {
    package var trimmedOfBlanks: String {
        guard utf8.first?.isBlank == true || utf8.last?.isBlank == true else { return self }
        return String(decoding: utf8.trimmedOfBlanks, as: UTF8.self)
    }

    /// The text without line breaks.
    package var onOneLine: String {
        contains(where: \.isNewline) ? split(whereSeparator: \.isNewline).joined(separator: " ") : self
    }

    /// The text in quotes, on one line and with at most 80 characters.
    package var quotedForMessage: String { "\"\(shortForMessage)\"" }

    /// The text on one line and with at most 80 characters.
    package var shortForMessage: String {
        let short = unicodeScalars.prefix(80)
        return short.onOneLine + (short.endIndex == unicodeScalars.endIndex ? "" : "…")
    }

    /// The text in quotes and on one line, whatever its length: a path ends with the name of its file.
    package var quotedInFull: String { "\"\(unicodeScalars[...].onOneLine)\"" }
}

extension StringProtocol {
    /// Returns the parts between separators that are not within quotes, without empty ones. It compares bytes, because
    /// a quote with a combining mark is another `Character`. In entity tags a backslash escapes nothing ([RFC 9110
    /// §8.8.3](https://www.rfc-editor.org/rfc/rfc9110#section-8.8.3)).
    package func splitOutsideQuotes(at separator: UInt8, hasEscapes: Bool = true) -> [SubSequence] {
        var isQuoted = false
        var isEscaped = false
        return utf8.split { byte in
            defer { isEscaped = hasEscapes && isQuoted && !isEscaped && byte == .backslash }
            if byte == .quote, !isEscaped { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }.map { self[$0.startIndex..<$0.endIndex] }
    }
}

extension Int {
    /// Returns the number and a noun, `1 byte` or `2 bytes`.
    package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}

extension Substring.UnicodeScalarView {
    /// The text with escapes for line breaks and control characters.
    fileprivate var onOneLine: String {
        map { $0.breaksLine ? $0.escaped(asASCII: true) : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    fileprivate var breaksLine: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
