/// A difference between an answer and its contract, such as `results[].title: was string, is null, in 3 places`.
///
/// It contains no value of the answer, except for a string that is not in a set, which is masked as in logs.
public struct ContractDifference: Sendable, Hashable {
    /// The kinds of differences. Later versions may add more, so keep a `default`.
    public enum Kind: String, Sendable, Hashable {
        /// A member without a line, in an object whose members have lines.
        case unknownMember
        /// An object lacks a member that is not optional.
        case missingMember
        /// Another kind of value, such as a string in place of an integer, or null.
        case kind
        /// A string without the format of the contract, such as a text in place of a `date`.
        case format
        /// A string that is not in the contract's set of strings.
        case value
        /// The answer is not JSON.
        case notJSON
    }

    /// The key path, as in the contract: `results[].title`. `$` is the top level.
    public let path: String
    /// The kind of difference.
    public let kind: Kind
    /// The type in the contract, as in its line. `no member` for an unknown one.
    public let expected: String
    /// The kind or format of the value. `no member` for a missing one, and the masked string for a new value.
    public let actual: String
    /// The number of values or objects with this difference.
    public internal(set) var count: Int
    /// The member of the type that no longer decodes: `MoviePage.results[].title`. Nil if the type decodes it, or if
    /// there is no type.
    public internal(set) var brokenMember: String?
}

extension ContractDifference: CustomStringConvertible {
    /// Path, old and new type on one line.
    public var description: String {
        "\(path): was \(expected), is \(actual)" + (count > 1 ? ", in \(count) places" : "")
            + (brokenMember.map { "; breaks \($0)" } ?? "")
    }
}

extension [ContractDifference] {
    /// The differences on one line, the first ten of them.
    package var summary: String {
        prefix(10).map(\.description).joined(separator: "; ") + (count > 10 ? " and \(count - 10) more" : "")
    }
}
