import Foundation

extension FastJSONEncoder {
    /// How the text is laid out.
    public struct OutputFormatting: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: UInt
        /// Makes a set of options.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Lines and indents for people, as `JSONEncoder` writes them.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Members sorted by the UTF-8 of their names. Without it they keep the order in which values encode them.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// A slash as it is, not as `\/`.
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
        /// Lines and indents as `json.dumps(value, indent=2)` of Python writes them: `"a": 1`, `[]`.
        package static let indented = OutputFormatting(rawValue: 1 << 16)
    }

    /// How a `Date` is written.
    public enum DateEncodingStrategy: Sendable {
        /// ISO 8601 text with milliseconds when there are some: `2001-01-01T00:00:00Z`, `2001-01-01T00:00:00.250Z`. The
        /// default. A year that has not four digits is an error.
        case iso8601WithMilliseconds
        /// ISO 8601 text in whole seconds.
        case iso8601
        /// As `Date` encodes itself: seconds since 2001, as a number.
        case deferredToDate
        /// Seconds since 1970, as a number.
        case secondsSince1970
        /// Milliseconds since 1970, as a number.
        case millisecondsSince1970
        /// The text that a formatter makes.
        case formatted(DateFormatter)
        /// Whatever the closure encodes; an empty object when it encodes nothing.
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }

    /// How `Data` is written.
    public enum DataEncodingStrategy: Sendable {
        /// As `Data` encodes itself: an array of numbers.
        case deferredToData
        /// Base64 text. The default.
        case base64
        /// Whatever the closure encodes; an empty object when it encodes nothing.
        case custom(@Sendable (Data, any Encoder) throws -> Void)
    }

    /// What becomes of an infinity or a NaN, which JSON cannot write.
    public enum NonConformingFloatEncodingStrategy: Sendable {
        /// It is an error. The default.
        case `throw`
        /// It becomes one of three texts.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// How the names of members are made of coding keys. The keys of a dictionary with `String` keys stay as they are.
    public enum KeyEncodingStrategy: Sendable {
        /// As the keys have them. The default.
        case useDefaultKeys
        /// `oneTwoThree` becomes `one_two_three`.
        case convertToSnakeCase
        /// The closure gets the path to the member, its own key last, and returns the key to write.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}

extension String {
    /// The text in snake case, as `JSONEncoder` converts it.
    ///
    /// A word begins at an uppercase letter that follows another word, and at the last of several uppercase letters
    /// when a lowercase letter follows: `myURLProperty` becomes `my_url_property`. Other characters belong to the word
    /// they stand in.
    var snakeCased: String {
        var characters = Array(self)
        var words: [Int] = []
        var rest = characters.dropFirst()
        while let upper = rest.firstIndex(where: \.isUppercaseLetter) {
            words.append(upper)
            guard let lower = rest[upper...].firstIndex(where: \.isLowercaseLetter) else { break }
            if lower > upper + 1 { words.append(lower - 1) }
            rest = rest[(lower + 1)...]
        }
        for word in words.reversed() { characters.insert("_", at: word) }
        return String(characters).lowercased()
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
