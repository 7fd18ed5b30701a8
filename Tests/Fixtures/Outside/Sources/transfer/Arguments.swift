/// The words behind a command's name.
struct Arguments {
    private(set) var words: [String]

    /// Whether there is such a word, which is taken out.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// The word behind this one; both are taken out.
    mutating func option(_ name: String) -> String? {
        guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...index + 1) }
        return words[index + 1]
    }
}
