import Foundation

/// A set of ASCII bytes as two words: membership is one shift, where `CharacterSet` takes a call.
struct ASCIISet: Hashable, Sendable {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        if byte < 64 {
            low |= 1 << UInt64(byte)
        } else if byte < 128 {
            high |= 1 << UInt64(byte - 64)
        }
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        if byte < 64 { return low & (1 << UInt64(byte)) != 0 }
        if byte < 128 { return high & (1 << UInt64(byte - 64)) != 0 }
        return false
    }

    func union(_ other: ASCIISet) -> ASCIISet {
        var result = self
        result.low |= other.low
        result.high |= other.high
        return result
    }

    static let alphanumerics = ASCIISet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
}

extension Collection<UInt8> {
    /// Whether it begins with ASCII text, given in lower case, without case.
    func starts(withLowercase text: StaticString) -> Bool {
        text.withUTF8Buffer { prefix(text.utf8CodeUnitCount).lazy.map(\.lowercased).elementsEqual($0) }
    }
}

extension UInt8 {
    static let percent = UInt8(ascii: "%")
    static let plus = UInt8(ascii: "+")
    static let space = UInt8(ascii: " ")
    static let slash = UInt8(ascii: "/")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    static let leftBrace = UInt8(ascii: "{")
    static let rightBrace = UInt8(ascii: "}")
    static let leftBracket = UInt8(ascii: "[")
    static let rightBracket = UInt8(ascii: "]")
    static let questionMark = UInt8(ascii: "?")
    static let numberSign = UInt8(ascii: "#")
    static let ampersand = UInt8(ascii: "&")
    static let equals = UInt8(ascii: "=")
    static let semicolon = UInt8(ascii: ";")
    static let quote = UInt8(ascii: "\"")
    static let backslash = UInt8(ascii: "\\")
    static let apostrophe = UInt8(ascii: "'")
    static let lessThan = UInt8(ascii: "<")
    static let greaterThan = UInt8(ascii: ">")
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    var isBlank: Bool { self == 0x20 || self == 0x09 }

    var lowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}

extension BidirectionalCollection<UInt8> {
    var trimmedOfBlanks: SubSequence {
        let bytes = drop(while: \.isBlank)
        guard let last = bytes.lastIndex(where: { !$0.isBlank }) else { return bytes }
        return bytes[...last]
    }
}

extension String {
    /// Replaces ASCII bytes by texts. What guards bytes compares bytes: a quote and a combining mark behind it are one
    /// `Character`, which is no quote.
    func replacingBytes(_ texts: [UInt8: String]) -> String {
        guard utf8.contains(where: { texts[$0] != nil }) else { return self }
        var result: [UInt8] = []
        for byte in utf8 {
            if let text = texts[byte] { result += text.utf8 } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

extension StringProtocol {
    /// The pieces between ASCII bytes, empty ones included.
    func pieces(between separator: UInt8) -> [SubSequence] {
        var pieces: [SubSequence] = []
        var start = startIndex
        while let end = utf8[start...].firstIndex(of: separator) {
            pieces.append(self[start..<end])
            start = utf8.index(after: end)
        }
        pieces.append(self[start...])
        return pieces
    }
}

extension String {
    func equalsIgnoringCase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { $0 == $1 || $0.lowercased == $1.lowercased }
    }

    /// A parameter of a `Content-Type`, quotes taken off; nil when there is none of that name.
    func mediaParameter(_ name: String) -> String? {
        var rest = utf8.drop { $0 != .semicolon }
        while rest.popFirst() != nil {
            let written = rest.prefix { $0 != .equals && $0 != .semicolon }
            rest = rest[written.endIndex...]
            guard rest.popFirst(if: .equals) else { continue }
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            var value: [UInt8] = []
            let isQuoted = rest.popFirst(if: .quote)
            while let byte = rest.first, byte != (isQuoted ? .quote : .semicolon) {
                rest.removeFirst()
                value.append(isQuoted && byte == .backslash ? rest.popFirst() ?? byte : byte)
            }
            if isQuoted { rest = rest.drop { $0 != .semicolon } }
            guard String(decoding: written.trimmedOfBlanks, as: UTF8.self).lowercased() == name else { continue }
            return String(decoding: isQuoted ? value[...] : value.trimmedOfBlanks, as: UTF8.self)
        }
        return nil
    }
}

extension Substring.UTF8View {
    /// Takes a byte away, when it is the first.
    fileprivate mutating func popFirst(if byte: UInt8) -> Bool {
        guard first == byte else { return false }
        removeFirst()
        return true
    }
}

extension CharacterSet {
    /// RFC 3986 §2.3.
    static let urlUnreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
}
