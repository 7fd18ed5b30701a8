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
