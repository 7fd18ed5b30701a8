import Foundation

extension FastJSONDecoder {
    /// The ways to read a `Date`.
    public enum DateDecodingStrategy: Sendable {
        /// Seconds since 2001-01-01T00:00:00Z, as `Date` decodes itself.
        case deferredToDate
        /// Seconds since 1970-01-01T00:00:00Z.
        case secondsSince1970
        /// Milliseconds since 1970-01-01T00:00:00Z.
        case millisecondsSince1970
        /// ISO 8601 text with a time zone, such as `2024-01-02T03:04:05Z`, `…05.678+01:00` or `…05+0100`.
        ///
        /// A fraction of the second is kept. A day, hour or minute that does not exist is an error.
        case iso8601
        /// ISO 8601 text as for ``iso8601``, or a number as for ``deferredToDate``.
        case iso8601OrDeferred
        /// Text that the formatter reads.
        case formatted(DateFormatter)
        /// The closure decodes each date.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The ways to read `Data`.
    public enum DataDecodingStrategy: Sendable {
        /// An array of bytes, as `Data` decodes itself.
        case deferredToData
        /// Base64 text, with padding.
        case base64
        /// The closure decodes each value.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }

    /// The ways to read a `Double` or `Float` that JSON has no number for.
    public enum NonConformingFloatDecodingStrategy: Sendable {
        /// Throws an error.
        case `throw`
        /// Reads these three texts as values.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The ways to make a coding key of a member's name. The names of a `[String: Value]` stay as they are.
    public enum KeyDecodingStrategy: Sendable {
        /// Takes names as they are.
        case useDefaultKeys
        /// Reads `first_name` as `firstName`. Underscores at the start and the end stay.
        case convertFromSnakeCase
        /// The closure makes a key of the path that ends with the member's name.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}
