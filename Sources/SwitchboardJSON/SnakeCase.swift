import Foundation

/// Converts `first_name` to `firstName` as `JSONDecoder` does.
enum SnakeCase {
    /// Converts a name. Underscores at the start and the end stay, and so does a name of one word. Of several words,
    /// the first is lowercased and the others are capitalized.
    static func camelCase(_ name: String) -> String {
        guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" }) else {
            return name
        }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        var result = String(name[..<first])
        result += words[0].lowercased()
        for word in words.dropFirst() { result += capitalized(word) }
        result += name[name.index(after: last)...]
        return result
    }

    private static func capitalized(_ word: Substring) -> String {
        guard word.utf8.allSatisfy({ isLetter($0) || $0 &- UInt8(ascii: "0") < 10 }) else { return word.capitalized }
        var isInside = false
        let bytes = word.utf8.map { byte -> UInt8 in
            defer { isInside = isLetter(byte) }
            guard isLetter(byte) else { return byte }
            return isInside ? byte | 0x20 : byte & ~0x20
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }
}

extension String {
    /// Returns the words of a camel-case name in lower case, joined by a separator, as `JSONEncoder` finds them.
    ///
    /// A word begins at the first uppercase letter after another word. When no lowercase letter follows that letter
    /// directly, one more word begins at the character before the next lowercase letter: `myURLProperty` becomes
    /// `my_url_property`.
    package func lowercasedWords(separator: String) -> String {
        let characters = Array(self)
        var words: [String] = []
        var start = 0
        func end(at end: Int) {
            words.append(String(characters[start..<end]).lowercased())
            start = end
        }
        var rest = characters.dropFirst()
        while let upper = rest.firstIndex(where: \.isUppercaseLetter) {
            end(at: upper)
            guard let lower = rest[upper...].firstIndex(where: \.isLowercaseLetter) else { break }
            if lower > upper + 1 { end(at: lower - 1) }
            rest = rest[(lower + 1)...]
        }
        end(at: characters.count)
        return words.joined(separator: separator)
    }
}

extension Character {
    fileprivate var isUppercaseLetter: Bool {
        unicodeScalars.contains {
            $0.properties.generalCategory == .uppercaseLetter || $0.properties.generalCategory == .titlecaseLetter
        }
    }

    fileprivate var isLowercaseLetter: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .lowercaseLetter }
    }
}
