import Foundation

/// The command line: a command, then `--name value` pairs and `--flag`s.
public struct Arguments: Sendable {
    /// The command, which is the first word.
    public let command: String
    private var values: [String: String] = [:]

    /// Parses the words after the program's name.
    public init(_ words: some Collection<String>) {
        command = words.first ?? ""
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { continue }
            let hasValue = rest.first.map { !$0.hasPrefix("--") } ?? false
            values[String(word.dropFirst(2))] = hasValue ? rest.popFirst() : ""
        }
    }

    /// The value of an option, or nil if it was not given.
    public subscript(name: String) -> String? { values[name] }

    /// Returns whether an option was given, with or without a value.
    public func has(_ flag: String) -> Bool { values[flag] != nil }

    /// Returns the value of a required option.
    public func text(_ name: String) throws(UsageError) -> String {
        guard let value = values[name], !value.isEmpty else { throw UsageError(text: "--\(name) is missing") }
        return value
    }

    /// Returns the URL of a required option.
    public func url(_ name: String) throws(UsageError) -> URL {
        guard let url = URL(string: try text(name)) else { throw UsageError(text: "--\(name) is not a URL") }
        return url
    }

    /// Returns the file of a required option.
    public func file(_ name: String) throws(UsageError) -> URL {
        URL(fileURLWithPath: try text(name))
    }

    /// Returns the number of an option, or `value` if it was not given.
    public func number<Number: LosslessStringConvertible>(_ name: String, default value: Number) throws(UsageError)
        -> Number
    {
        guard let text = values[name] else { return value }
        guard let number = Number(text) else { throw UsageError(text: "--\(name) is not a number: \(text)") }
        return number
    }
}

/// An error in the command line.
public struct UsageError: Error, CustomStringConvertible {
    let text: String

    /// Creates an error with a message.
    public init(text: String) {
        self.text = text
    }

    /// The message.
    public var description: String { text }
}
