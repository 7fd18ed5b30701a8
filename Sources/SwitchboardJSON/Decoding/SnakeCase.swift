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
