/// Percent-encoding of [RFC 3986 §2.1](https://www.rfc-editor.org/rfc/rfc3986#section-2.1), appended to a byte buffer.
extension [UInt8] {
    /// Appends `bytes`; those outside `allowed` become `%XX` in upper case. A blank becomes `+` when `plusForSpace` is
    /// set.
    @inline(__always)
    package mutating func appendEscaped(_ bytes: some Sequence<UInt8>, allowed: ASCIISet, plusForSpace: Bool = false) {
        for byte in bytes {
            if allowed.contains(byte) {
                append(byte)
            } else if plusForSpace, byte == .space {
                append(.plus)
            } else {
                appendEscape(byte)
            }
        }
    }

    /// Appends `text`, escaping once: what `allowed` lacks becomes `%XX`, and a valid `%XX` that is there already stays
    /// as it is.
    @inline(__always)
    mutating func appendEscapedOnce(_ text: some Collection<UInt8>, allowed: ASCIISet) {
        var index = text.startIndex
        while index != text.endIndex {
            let byte = text[index]
            let next = text.index(after: index)
            if allowed.contains(byte) || (byte == .percent && text[next...].prefix(2).isHexPair) {
                append(byte)
            } else {
                appendEscape(byte)
            }
            index = next
        }
    }

    private mutating func appendEscape(_ byte: UInt8) {
        append(.percent)
        append(Self.upperHex[Int(byte >> 4)])
        append(Self.upperHex[Int(byte & 15)])
    }

    private static let upperHex = Array("0123456789ABCDEF".utf8)
}

extension Collection<UInt8> {
    var isHexPair: Bool {
        count == 2 && allSatisfy(ASCIISet.hexDigits.contains)
    }
}

extension UInt8 {
    package static let percent = UInt8(ascii: "%")
    package static let plus = UInt8(ascii: "+")
    package static let space = UInt8(ascii: " ")
    package static let slash = UInt8(ascii: "/")
    package static let colon = UInt8(ascii: ":")
    package static let comma = UInt8(ascii: ",")
    package static let leftBrace = UInt8(ascii: "{")
    package static let rightBrace = UInt8(ascii: "}")
    package static let leftBracket = UInt8(ascii: "[")
    package static let rightBracket = UInt8(ascii: "]")
    package static let questionMark = UInt8(ascii: "?")
    package static let numberSign = UInt8(ascii: "#")
    package static let ampersand = UInt8(ascii: "&")
    package static let equals = UInt8(ascii: "=")
    package static let dot = UInt8(ascii: ".")
    package static let semicolon = UInt8(ascii: ";")
    package static let quote = UInt8(ascii: "\"")
    package static let backslash = UInt8(ascii: "\\")
    package static let apostrophe = UInt8(ascii: "'")
    package static let lessThan = UInt8(ascii: "<")
    package static let greaterThan = UInt8(ascii: ">")
    package static let lineFeed = UInt8(ascii: "\n")
    package static let carriageReturn = UInt8(ascii: "\r")

    /// CR, LF and NUL: what could start a new line or end a text in a request's head.
    var breaksHead: Bool { self == 0 || self == 10 || self == 13 }

    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    package var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
