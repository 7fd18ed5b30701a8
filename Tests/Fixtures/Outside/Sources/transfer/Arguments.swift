/// The arguments after a command's name.
struct Arguments {
    private(set) var words: [String]

    /// Removes a flag. Returns false when it is missing.
    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Removes an option and its value. Returns the value, or nil when the option is missing.
    mutating func option(_ name: String) -> String? {
        guard let index = words.firstIndex(of: name), index + 1 < words.count else { return nil }
        defer { words.removeSubrange(index...index + 1) }
        return words[index + 1]
    }
}
