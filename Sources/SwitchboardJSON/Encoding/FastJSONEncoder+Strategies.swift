import Foundation

extension FastJSONEncoder {
    /// The layout of the text.
    public struct OutputFormatting: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: UInt
        /// Creates a set of options.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Adds line breaks and indentation as `JSONEncoder` does.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// Sorts members by the UTF-8 of their names. Without it they keep the order in which values encode them.
        public static let sortedKeys = OutputFormatting(rawValue: 2)
        /// Writes a slash as `/`, not as `\/`.
        public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
        /// Adds line breaks and indentation as Python's `json.dumps(value, indent=2)` does: `"a": 1`, `[]`.
        package static let indented = OutputFormatting(rawValue: 1 << 16)
    }

    /// The strategies for writing a `Date`.
    public enum DateEncodingStrategy: Sendable {
        /// ISO 8601 text with milliseconds unless they are zero: `2001-01-01T00:00:00Z`, `2001-01-01T00:00:00.250Z`.
        ///
        /// This is the default. A year outside 1 to 9999 is an error.
        case iso8601WithMilliseconds
        /// ISO 8601 text in whole seconds.
        case iso8601
        /// Seconds since 2001, as a number, as `Date` encodes itself.
        case deferredToDate
        /// Seconds since 1970, as a number.
        case secondsSince1970
        /// Milliseconds since 1970, as a number.
        case millisecondsSince1970
        /// Text in the format of the formatter.
        case formatted(DateFormatter)
        /// The value that the closure encodes, or an empty object when it encodes nothing.
        case custom(@Sendable (Date, any Encoder) throws -> Void)
    }

    /// The strategies for writing `Data`.
    public enum DataEncodingStrategy: Sendable {
        /// An array of numbers, as `Data` encodes itself.
        case deferredToData
        /// Base64 text. The default.
        case base64
        /// The value that the closure encodes, or an empty object when it encodes nothing.
        case custom(@Sendable (Data, any Encoder) throws -> Void)
    }

    /// The strategies for writing infinity and NaN, which JSON numbers cannot express.
    public enum NonConformingFloatEncodingStrategy: Sendable {
        /// Throws an error. The default.
        case `throw`
        /// Writes one of these three strings.
        case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The strategies for converting coding keys to member names. The keys of a `[String: Value]` stay unchanged.
    public enum KeyEncodingStrategy: Sendable {
        /// Uses keys unchanged. The default.
        case useDefaultKeys
        /// Writes `oneTwoThree` as `one_two_three`.
        case convertToSnakeCase
        /// The closure returns the key to write for a path that ends with the member's key.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}
