import Foundation

/// The location of a value in a JSON text, found by the key path of a decoding error. It parses the text again: a decoder
/// keeps no locations, and only a failed call needs one.
struct JSONLocation {
    let text: Data
    /// The index of the value's first byte, or of the bracket that ends an array with too few elements.
    private(set) var index: Data.Index
    /// The indices of the objects and arrays around the value, from outermost to innermost.
    private(set) var containers: [Data.Index] = []

    /// Finds the value at a path. Nil if the text is not JSON in UTF-8, or if the path leads elsewhere.
    init?(of path: [any CodingKey], in text: Data) {
        self.text = text
        index = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.startIndex + 3 : text.startIndex
        skipBlanks()
        for key in path {
            let container = index
            guard enter(key) else { return nil }
            containers.append(container)
        }
        guard let byte, !path.isEmpty || byte != .rightBracket, byte.startsJSON || byte == .rightBracket else {
            return nil
        }
    }

    /// The byte at the location. Nil at the end of the text.
    var byte: UInt8? { index < text.endIndex ? text[index] : nil }

    /// Whether no object or array begins at the location.
    var isScalar: Bool { byte != .leftBrace && byte != .leftBracket }

    /// The text of the value at the location.
    var value: Data {
        var end = self
        end.skipValue()
        return text[index..<end.index]
    }

    /// The names of the object at the location. Nil for another value.
    var names: [String]? {
        guard byte == .leftBrace else { return nil }
        var (location, names) = (self, [String]())
        while let name = location.nextName() {
            names.append(name)
            location.skipValue()
        }
        return names
    }

    private mutating func enter(_ key: any CodingKey) -> Bool {
        guard let number = key.intValue, byte == .leftBracket else { return enterMember(key.stringValue) }
        return enterElement(number)
    }

    /// Moves to the value of a member. Without a member of that name, its other Unicode form matches, as in a
    /// `JSONDecoder`, and a name in snake case matches its camel case.
    private mutating func enterMember(_ expected: String) -> Bool {
        guard byte == .leftBrace else { return false }
        var converted: JSONLocation?
        while let name = nextName() {
            if name.utf8.elementsEqual(expected.utf8) { return true }
            if converted == nil, name == expected || name.camelCased == expected { converted = self }
            skipValue()
        }
        guard let converted else { return false }
        self = converted
        return true
    }

    private mutating func enterElement(_ number: Int) -> Bool {
        index += 1
        skipBlanks()
        var left = number
        while left > 0, byte != .rightBracket {
            skipValue()
            skipBlanks()
            left -= 1
            guard byte == .comma else { return left == 0 && byte == .rightBracket }
            index += 1
            skipBlanks()
        }
        return left == 0
    }

    /// Moves from `{`, or from the end of a value, to the next member's value. Returns the member's name.
    private mutating func nextName() -> String? {
        skipBlanks()
        guard byte == .leftBrace || byte == .comma else { return nil }
        index += 1
        skipBlanks()
        guard byte == .quote else { return nil }
        let start = index
        skipString()
        let name = text[start..<index]
        skipBlanks()
        guard byte == .colon else { return nil }
        index += 1
        skipBlanks()
        return name.jsonString
    }

    private mutating func skipBlanks() {
        while let byte, byte.isSpace { index += 1 }
    }

    private mutating func skipValue() {
        var depth = 0
        while let byte {
            switch byte {
            case .quote: skipString()
            case .leftBrace, .leftBracket:
                depth += 1
                index += 1
            case .rightBrace, .rightBracket:
                guard depth > 0 else { return }
                depth -= 1
                index += 1
            case .comma where depth == 0: return
            case _ where depth == 0 && byte.isSpace: return
            default:
                index += 1
                continue
            }
            if depth == 0 { return }
        }
    }

    private mutating func skipString() {
        index += 1
        while let byte, byte != .quote { index += byte == .backslash ? 2 : 1 }
        index = Swift.min(index + 1, text.endIndex)
    }
}

extension Data {
    /// The value of a JSON string. Nil for any other value.
    var jsonString: String? {
        guard count >= 2, first == .quote, last == .quote else { return nil }
        guard contains(.backslash) else { return String(decoding: dropFirst().dropLast(), as: UTF8.self) }
        return try? JSONDecoder().decode(String.self, from: self)
    }
}

extension String {
    /// The name as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` reads it.
    package var camelCased: String {
        guard utf8.contains(UInt8(ascii: "_")), let first = firstIndex(where: { $0 != "_" }),
            let last = lastIndex(where: { $0 != "_" })
        else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        return self[..<first] + words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
            + self[index(after: last)...]
    }
}

extension UInt8 {
    package var startsJSON: Bool { "{[\"-0123456789tfn".utf8.contains(self) }
}
