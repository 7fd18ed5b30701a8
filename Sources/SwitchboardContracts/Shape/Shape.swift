import Foundation
import SwitchboardText

/// The shape of the values at one key path. A contract has a list of them, and the first one is the top level's.
struct Shape: Sendable {
    struct Member: Sendable {
        let name: [UInt8]
        let shape: Int
        let isOptional: Bool

        init(_ name: String, _ shape: Int, isOptional: Bool) {
            self.name = Array(name.utf8)
            self.shape = shape
            self.isOptional = isOptional
        }

        var text: String { String(decoding: name, as: UTF8.self) }
    }

    /// The last part of a key path.
    enum Step: Sendable, Hashable {
        case root
        case member(String)
        /// A member without a line of its own.
        case others
        case element
    }

    var kinds: Kinds
    var strings = StringRule.any
    /// The known members, by the bytes of their names.
    var members: [Member] = []
    /// The shape of all other members. Nil if there are none.
    var others: Int?
    /// The shape of the elements. Nil if nothing is known about them.
    var element: Int?
    /// The shape that contains this one, on the shortest path from the top level.
    var parent = 0
    var step = Step.root

    var isLeaf: Bool { members.isEmpty && others == nil && element == nil }

    func position(of name: UnsafeBufferPointer<UInt8>) -> Int? { members.position(of: name, by: \.name) }
}

extension Array {
    /// Returns the position of the element with these bytes, or nil without one. The elements are sorted by their bytes.
    fileprivate func position(
        of text: UnsafeBufferPointer<UInt8>, by bytes: (Element) -> some Collection<UInt8>
    ) -> Int? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if bytes(self[middle]).lexicographicallyPrecedes(text) { low = middle + 1 } else { high = middle }
        }
        return low < count && bytes(self[low]).elementsEqual(text) ? low : nil
    }
}

/// The kinds of JSON values. Each integer is a number.
struct Kinds: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let object = Kinds(rawValue: 1)
    static let array = Kinds(rawValue: 2)
    static let string = Kinds(rawValue: 4)
    static let integer = Kinds(rawValue: 8)
    static let number = Kinds(rawValue: 16)
    static let boolean = Kinds(rawValue: 32)
    static let null = Kinds(rawValue: 64)
    static let any: Kinds = [.object, .array, .string, .integer, .number, .boolean, .null]

    /// The words of a contract, in their order in a line.
    static let words: [(word: String, kind: Kinds)] = [
        ("object", .object), ("array", .array), ("string", .string), ("number", .number), ("integer", .integer),
        ("boolean", .boolean), ("null", .null),
    ]

    /// The kinds with `integer` if there is `number`.
    var closed: Kinds { contains(.number) ? union(.integer) : self }

    var word: String { Kinds.words.first { contains($0.kind) }?.word ?? "never" }
}

enum StringRule: Sendable, Hashable {
    case any
    case formats(StringFormats)
    /// The allowed strings, sorted by their bytes.
    case values([String])

    static func anyOf(_ values: Set<ExactText>) -> StringRule {
        .values(values.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    /// The number of allowed strings. 0 for other rules.
    var count: Int { if case .values(let values) = self { values.count } else { 0 } }

    /// The length of the allowed strings in a line.
    var length: Int {
        if case .values(let values) = self { values.reduce(0) { $0 + $1.utf8.count + 5 } } else { 0 }
    }

    static func isOne(of values: [String], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        values.position(of: text, by: \.utf8) != nil
    }

    func union(_ other: StringRule) -> StringRule {
        switch (self, other) {
        case (.formats(let one), .formats(let other)): .formats(one.union(other))
        case (.values(let one), .values(let other)): .anyOf(Set((one + other).map(ExactText.init)))
        default: .any
        }
    }

    /// Returns a rule that allows at least the strings that both allow, so that no valid answer is a difference.
    func intersection(_ other: StringRule) -> StringRule {
        switch (self, other) {
        case (.any, let rule), (let rule, .any): rule
        case (.values(let one), .values(let other)):
            .anyOf(Set(one.map(ExactText.init)).intersection(other.map(ExactText.init)))
        case (.formats(let one), .formats(let other)):
            // Different formats of one string, such as a URL that is also a date, do not occur.
            .formats(one.intersection(other).isEmpty ? one : one.intersection(other))
        case (.values, .formats): self
        case (.formats, .values): other
        }
    }
}

struct StringFormats: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    static let dateTime = StringFormats(rawValue: 1)
    static let date = StringFormats(rawValue: 2)
    static let uuid = StringFormats(rawValue: 4)
    static let url = StringFormats(rawValue: 8)
    static let email = StringFormats(rawValue: 16)

    /// The words of a contract, in their order in a line. They are the names of JSON Schema, except for `url`.
    static let words: [(word: String, format: StringFormats)] = [
        ("date-time", .dateTime), ("date", .date), ("uuid", .uuid), ("url", .url), ("email", .email),
    ]
}

extension Shape {
    /// The kinds, formats and values as in a line of a contract.
    var text: String {
        if kinds.closed == .any, strings == .any { return "any" }
        var words: [String] = []
        for (word, kind) in Kinds.words where kinds.contains(kind) {
            switch (kind, strings) {
            case (.integer, _) where kinds.contains(.number): break
            case (.string, .formats(let formats)):
                words += StringFormats.words.filter { formats.contains($0.format) }.map(\.word)
            case (.string, .values(let values)): words += values.map(\.jsonQuoted)
            default: words.append(word)
            }
        }
        return words.isEmpty ? "never" : words.joined(separator: " | ")
    }

    /// The text for a message: at most 20 of the allowed strings, each with at most 80 characters.
    var shortText: String {
        guard case .values(let values) = strings else { return text }
        var short = self
        short.strings = .values(values.prefix(20).map { $0.utf8.count > 80 ? $0.shortForMessage : $0 })
        return short.text + (values.count > 20 ? " | …" : "")
    }
}

extension Shape.Step {
    func path(below parent: String) -> String {
        let parent = parent == "$" ? "" : parent
        switch self {
        case .root: return "$"
        case .member(let name):
            return parent + (parent.isEmpty ? "" : ".") + (name.isPlainName ? name : name.jsonQuoted)
        case .others: return parent + "{}"
        case .element: return parent + "[]"
        }
    }
}

extension String {
    /// Whether a contract contains the name without quotes.
    var isPlainName: Bool { !isEmpty && utf8.count <= 256 && utf8.allSatisfy(ASCIISet.plainName.contains) }

    /// The text as a JSON string without line ends and other characters that a line may not contain.
    var jsonQuoted: String {
        var text = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            default:
                switch scalar.properties.generalCategory {
                case .control, .lineSeparator, .paragraphSeparator, .format:
                    for unit in String(scalar).utf16 { text += "\\u" + unit.hexText }
                default: text.unicodeScalars.append(scalar)
                }
            }
        }
        return text + "\""
    }
}

extension ASCIISet {
    static let plainName = alphanumerics.union(ASCIISet("_-"))
}
