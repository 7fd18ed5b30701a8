extension UInt8 {
    @inlinable package static var percent: UInt8 { UInt8(ascii: "%") }
    @inlinable package static var plus: UInt8 { UInt8(ascii: "+") }
    @inlinable package static var space: UInt8 { UInt8(ascii: " ") }
    @inlinable package static var slash: UInt8 { UInt8(ascii: "/") }
    @inlinable package static var colon: UInt8 { UInt8(ascii: ":") }
    @inlinable package static var comma: UInt8 { UInt8(ascii: ",") }
    @inlinable package static var leftBrace: UInt8 { UInt8(ascii: "{") }
    @inlinable package static var rightBrace: UInt8 { UInt8(ascii: "}") }
    @inlinable package static var leftBracket: UInt8 { UInt8(ascii: "[") }
    @inlinable package static var rightBracket: UInt8 { UInt8(ascii: "]") }
    @inlinable package static var questionMark: UInt8 { UInt8(ascii: "?") }
    @inlinable package static var numberSign: UInt8 { UInt8(ascii: "#") }
    @inlinable package static var ampersand: UInt8 { UInt8(ascii: "&") }
    @inlinable package static var equals: UInt8 { UInt8(ascii: "=") }
    @inlinable package static var dot: UInt8 { UInt8(ascii: ".") }
    @inlinable package static var semicolon: UInt8 { UInt8(ascii: ";") }
    @inlinable package static var quote: UInt8 { UInt8(ascii: "\"") }
    @inlinable package static var backslash: UInt8 { UInt8(ascii: "\\") }
    @inlinable package static var apostrophe: UInt8 { UInt8(ascii: "'") }
    @inlinable package static var lessThan: UInt8 { UInt8(ascii: "<") }
    @inlinable package static var greaterThan: UInt8 { UInt8(ascii: ">") }
    @inlinable package static var lineFeed: UInt8 { UInt8(ascii: "\n") }
    @inlinable package static var carriageReturn: UInt8 { UInt8(ascii: "\r") }

    /// Whether the byte is a space or a tab.
    @inlinable package var isBlank: Bool { self == 0x20 || self == 0x09 }

    /// Whether the byte is a blank or ends a line.
    var isSpace: Bool { isBlank || self == .lineFeed || self == .carriageReturn }

    /// Whether the byte is an ASCII digit.
    @inlinable package var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The lower-case byte of an ASCII capital letter, or else the byte itself.
    @inlinable package var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension UInt8 {
    /// Whether the byte is a control character that a field's value must not contain ([RFC 9110
    /// §5.5](https://www.rfc-editor.org/rfc/rfc9110#section-5.5)).
    @inlinable package var breaksFieldValue: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    /// Whether the byte is CR, LF or NUL, which could start a new line or end a text in a request's head.
    @inlinable package var breaksHead: Bool { self == 0 || self == .lineFeed || self == .carriageReturn }

    /// The name of a blank or a control character.
    package var nameForMessage: String {
        switch self {
        case 0x00: "a NUL"
        case 0x09: "a tab"
        case 0x0A: "a line feed"
        case 0x0D: "a carriage return"
        case 0x20: "a space"
        default: "the control character 0x\(hexText.uppercased())"
        }
    }
}

extension FixedWidthInteger {
    /// The hexadecimal digits in lower case, with leading zeros: `000a` for a `UInt16`.
    package var hexText: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: Self.bitWidth / 4 - digits.count) + digits
    }
}

extension Collection<UInt8> {
    /// The bytes without the byte-order mark of UTF-8.
    package var withoutMark: SubSequence { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...] }

    /// Compares with lower-case ASCII text, ignoring case.
    @inlinable
    package func equalsLowercase(_ text: StaticString) -> Bool {
        count == text.utf8CodeUnitCount && starts(withLowercase: text)
    }

    /// Returns whether the bytes start with a lower-case ASCII text, ignoring case.
    @inlinable
    package func starts(withLowercase text: StaticString) -> Bool {
        var rest = makeIterator()
        return text.withUTF8Buffer { text in text.allSatisfy { rest.next()?.lowercased == $0 } }
    }
}

extension BidirectionalCollection<UInt8> {
    @inlinable package var trimmedOfBlanks: SubSequence {
        let bytes = drop(while: \.isBlank)
        guard let last = bytes.lastIndex(where: { !$0.isBlank }) else { return bytes }
        return bytes[...last]
    }
}
