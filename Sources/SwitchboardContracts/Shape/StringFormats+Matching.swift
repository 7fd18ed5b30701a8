import SwitchboardJSON
import SwitchboardText

extension StringFormats {
    /// Returns the format of a text, or an empty set for any other text.
    static func format(of text: UnsafeBufferPointer<UInt8>) -> StringFormats {
        for format in [StringFormats.dateTime, .date, .uuid, .email] where format.matches(text) { return format }
        return StringFormats.url.matches(text) && hasAuthority(text) ? .url : []
    }

    func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        contains(.dateTime) && JSONValues.isDateTime(text) || contains(.date) && Self.isDate(text)
            || contains(.uuid) && Self.isUUID(text) || contains(.url) && Self.isURL(text)
            || contains(.email) && Self.isEmail(text)
    }

    /// Returns whether a text is `yyyy-MM-dd` with a month and a day that exist.
    static func isDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 10 else { return false }
        return (Array(text) + "T00:00:00Z".utf8).withUnsafeBufferPointer { JSONValues.isDateTime($0) }
    }

    static func isUUID(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 36 else { return false }
        return text.enumerated().allSatisfy { offset, byte in
            [8, 13, 18, 23].contains(offset) ? byte == UInt8(ascii: "-") : byte.isHexadecimal
        }
    }

    /// Returns whether a text is a scheme, a colon and at least one character, without blanks, quotes and brackets.
    private static func isURL(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let colon = text.firstIndex(of: .colon), colon > 0, colon < text.count - 1,
            ASCIISet.alphanumerics.contains(text[0]), !text[0].isDigit
        else { return false }
        return text[..<colon].allSatisfy(ASCIISet.scheme.contains)
            && text[colon...].allSatisfy { $0 > 0x20 && $0 != 0x7F && !ASCIISet.outsideURL.contains($0) }
    }

    private static func hasAuthority(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let colon = text.firstIndex(of: .colon), colon + 3 < text.count else { return false }
        return text[colon + 1] == .slash && text[colon + 2] == .slash
    }

    private static func isEmail(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= 254, let at = text.firstIndex(of: UInt8(ascii: "@")), at > 0 else { return false }
        let host = text[(at + 1)...]
        return host.contains(.dot) && host.first != .dot && host.last != .dot
            && host.allSatisfy(ASCIISet.host.contains)
            && text[..<at].allSatisfy { $0 > 0x20 && $0 != 0x7F && !ASCIISet.outsideEmail.contains($0) }
    }
}

extension UInt8 {
    var isHexadecimal: Bool { ASCIISet.hexDigits.contains(self) }
}

extension ASCIISet {
    fileprivate static let scheme = alphanumerics.union(ASCIISet("+-."))
    fileprivate static let host = alphanumerics.union(ASCIISet("-."))
    fileprivate static let outsideEmail = ASCIISet("<>\"\\")
    fileprivate static let outsideURL = ASCIISet("<>\"{}|\\^`")
}
