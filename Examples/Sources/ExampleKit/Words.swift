import Foundation

/// The words of a command line, options apart from operands.
///
/// Options may stand before and after the command, as `--page 2` or `--page=2`; the last of two wins.
package struct Words: Sendable {
    package private(set) var operands: [String] = []
    /// The values of the options that were given, by their words.
    private var values: [String: String] = [:]

    /// Reads the words after the program's name.
    ///
    /// - Throws: A ``Failure`` that names the first word that makes no sense, and what would.
    package init(_ words: [String], options: [Option]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), Int(word) == nil else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let name = parts[0] == "-h" ? Option.help.word : parts[0]
            guard let option = options.first(where: { $0.word == name }) else {
                throw Failure(.usage, "unknown option '\(name)': use \(choice(options.map(\.word)))")
            }
            values[name] = try value(of: option, inWord: parts.dropFirst().first, else: &rest)
        }
    }

    private func value(
        of option: Option, inWord value: String?, else rest: inout ArraySlice<String>
    ) throws(Failure) -> String {
        guard option.placeholder != nil else {
            if let value { throw Failure(.usage, "\(option.word) takes no value, and got '\(value)'") }
            return ""
        }
        if let value { return value }
        guard let next = rest.first, !next.hasPrefix("--") else {
            throw Failure(.usage, "\(option.word) needs a value: \(option.expected)")
        }
        rest.removeFirst()
        return next
    }

    /// The value of an option, empty for a switch; nil when it was not given.
    package subscript(option: Option) -> String? { values[option.word] }

    /// Whether an option was given.
    package func has(_ option: Option) -> Bool { self[option] != nil }

    /// The first operand that nobody took, taken now.
    mutating func takeOperand() -> String? {
        operands.isEmpty ? nil : operands.removeFirst()
    }
}

/// `a, b or c`
package func choice(_ words: [String], _ conjunction: String = "or") -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}
