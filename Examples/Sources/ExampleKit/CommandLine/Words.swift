import Foundation

/// The words of a command line, with options and operands separated.
///
/// Options may precede or follow the command, as `--page 2` or `--page=2`. The last value of an option wins.
package struct Words: Sendable {
    package private(set) var operands: [String] = []
    /// The values of the given options, by the option's word.
    private var values: [String: String] = [:]

    /// Parses the words after the program's name.
    ///
    /// - Throws: A ``Failure`` that names the first invalid word and what is valid instead.
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

    /// The value of an option, or nil if it was not given. A switch has the value `""`.
    package subscript(option: Option) -> String? { values[option.word] }

    /// Returns whether an option was given.
    package func has(_ option: Option) -> Bool { self[option] != nil }

    /// Removes and returns the first remaining operand.
    mutating func takeOperand() -> String? {
        operands.isEmpty ? nil : operands.removeFirst()
    }
}

/// Joins words as `a, b or c`.
package func choice(_ words: [String], _ conjunction: String = "or") -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}
