import Foundation

extension FastJSONDecoder {
    /// The strategies for reading a `Date`.
    public enum DateDecodingStrategy: Sendable {
        /// Seconds since 2001-01-01T00:00:00Z, as `Date` decodes itself.
        case deferredToDate
        /// Seconds since 1970-01-01T00:00:00Z.
        case secondsSince1970
        /// Milliseconds since 1970-01-01T00:00:00Z.
        case millisecondsSince1970
        /// ISO 8601 text with a time zone, such as `2024-01-02T03:04:05Z`, `…05.678+01:00` or `…05+0100`.
        ///
        /// Fractions of a second are kept. A day, hour or minute that does not exist is an error.
        case iso8601
        /// ISO 8601 text as for ``iso8601``, or a number as for ``deferredToDate``.
        case iso8601OrDeferred
        /// Text in the format of the formatter.
        case formatted(DateFormatter)
        /// The closure decodes each date.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
    }

    /// The strategies for reading `Data`.
    public enum DataDecodingStrategy: Sendable {
        /// An array of bytes, as `Data` decodes itself.
        case deferredToData
        /// Base64 text, with padding.
        case base64
        /// The closure decodes each value.
        case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
    }

    /// The strategies for reading infinity or NaN, which JSON numbers cannot express, as `Double` or `Float`.
    public enum NonConformingFloatDecodingStrategy: Sendable {
        /// Throws an error.
        case `throw`
        /// Reads these three strings as the values.
        case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
    }

    /// The strategies for converting a member's name to a coding key. The keys of a `[String: Value]` stay unchanged.
    public enum KeyDecodingStrategy: Sendable {
        /// Uses names unchanged.
        case useDefaultKeys
        /// Reads `first_name` as `firstName`. Underscores at the start and the end stay.
        case convertFromSnakeCase
        /// The closure returns the key for a path that ends with the member's name.
        case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
    }
}
