import Foundation

/// The command line: a command, then `--name value` pairs and `--flag`s.
public struct Arguments: Sendable {
    /// The first word.
    public let command: String
    private var values: [String: String] = [:]

    /// Takes the words after the program's name.
    public init(_ words: some Collection<String>) {
        command = words.first ?? ""
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { continue }
            let hasValue = rest.first.map { !$0.hasPrefix("--") } ?? false
            values[String(word.dropFirst(2))] = hasValue ? rest.popFirst() : ""
        }
    }

    /// The value of an option; nil when it was not given.
    public subscript(name: String) -> String? { values[name] }

    /// Whether the option was given, with a value or without.
    public func has(_ flag: String) -> Bool { values[flag] != nil }

    /// The value of an option that must have one.
    public func text(_ name: String) throws(UsageError) -> String {
        guard let value = values[name], !value.isEmpty else { throw UsageError(text: "--\(name) is missing") }
        return value
    }

    /// The URL of an option that must have one.
    public func url(_ name: String) throws(UsageError) -> URL {
        guard let url = URL(string: try text(name)) else { throw UsageError(text: "--\(name) is not a URL") }
        return url
    }

    /// The file of an option that must have one.
    public func file(_ name: String) throws(UsageError) -> URL {
        URL(fileURLWithPath: try text(name))
    }

    /// The number of an option; `value` when it was not given.
    public func number<Number: LosslessStringConvertible>(_ name: String, default value: Number) throws(UsageError)
        -> Number
    {
        guard let text = values[name] else { return value }
        guard let number = Number(text) else { throw UsageError(text: "--\(name) is no number: \(text)") }
        return number
    }
}

/// A fault of the command line.
public struct UsageError: Error, CustomStringConvertible {
    let text: String

    /// Makes the error that says `text`.
    public init(text: String) {
        self.text = text
    }

    /// The text.
    public var description: String { text }
}
