import Foundation

/// The command line: a command, then `--name value` pairs and `--flag`s.
struct Arguments: Sendable {
    let command: String
    private var values: [String: String] = [:]

    init(_ words: some Collection<String>) {
        command = words.first ?? ""
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { continue }
            let hasValue = rest.first.map { !$0.hasPrefix("--") } ?? false
            values[String(word.dropFirst(2))] = hasValue ? rest.popFirst() : ""
        }
    }

    /// The value of an option; nil when it was not given.
    subscript(name: String) -> String? { values[name] }

    func has(_ flag: String) -> Bool { values[flag] != nil }

    func text(_ name: String) throws(UsageError) -> String {
        guard let value = values[name], !value.isEmpty else { throw UsageError(text: "--\(name) is missing") }
        return value
    }

    func url(_ name: String) throws(UsageError) -> URL {
        guard let url = URL(string: try text(name)) else { throw UsageError(text: "--\(name) is no URL") }
        return url
    }

    func file(_ name: String) throws(UsageError) -> URL {
        URL(fileURLWithPath: try text(name))
    }

    func number<Number: LosslessStringConvertible>(_ name: String, default value: Number) throws(UsageError) -> Number {
        guard let text = values[name] else { return value }
        guard let number = Number(text) else { throw UsageError(text: "--\(name) is no number: \(text)") }
        return number
    }
}

/// What is wrong with the command line.
struct UsageError: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
