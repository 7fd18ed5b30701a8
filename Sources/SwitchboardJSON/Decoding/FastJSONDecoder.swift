import Foundation

/// Decodes values from JSON with the strategies of Foundation's `JSONDecoder`, more strictly and faster.
///
/// ```swift
/// var decoder = FastJSONDecoder()
/// decoder.keyDecodingStrategy = .convertFromSnakeCase
/// let page = try decoder.decode(MoviePage.self, from: data)
/// ```
///
/// The settings and errors are those of `JSONDecoder`, with these differences:
/// - The text must be UTF-8 as [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) requires, with or without a byte-order
///   mark. UTF-16, UTF-32, trailing commas, and errors in parts that no type reads are refused. An input of 4 GB or more
///   is an error.
/// - Names are compared by their UTF-8 bytes, so canonically equivalent names differ.
/// - Numbers are exact. `1.5` is no `Int`, `0e1` is a number, and a `Decimal` may be zero with any exponent.
/// - An ISO 8601 date may have a fraction. A date that does not exist, and text after a date, are errors.
/// - The description of an error states line, column and byte offset. The error of a number that does not fit has a
///   coding path.
/// - A coding path has the keys that `init(stringValue:)` of the type's keys makes of the names, even where the type used
///   a key with another `intValue`.
/// - The nesting is limited by ``maximumDepth`` and by the stack of the thread.
/// - `allowsJSON5` and `assumesTopLevelDictionary` do not exist, because a second grammar would make the parser of every
///   text larger and slower.
///
/// A decode runs in two steps.
/// 1. `JSONParser` checks the whole text in one pass and writes a flat tape: one `JSONTapeEntry` of 16 bytes for each
///    value and each name, with its offset in the text. Open containers are on the tape, not on the stack.
/// 2. `JSONDocument` owns the text and the tape. `Decoder` and the containers consist of a reference to it and an index
///    into the tape. They convert numbers, strings and dates only when a type decodes them. A keyed container compares
///    bytes and stores on the tape where it expects the next name: after the last one, or where the last object of the
///    type had it. Arrays are decoded without their `init(from:)`. Coding paths and positions are computed only for
///    errors and on request.
public struct FastJSONDecoder: Sendable {
    /// The strategy for dates. The default is `.deferredToDate`.
    public var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
    /// The strategy for `Data`. The default is `.base64`.
    public var dataDecodingStrategy = DataDecodingStrategy.base64
    /// The strategy for strings that represent infinity or NaN. The default is `.throw`.
    public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw
    /// The strategy for converting member names to coding keys. The default is `.useDefaultKeys`.
    public var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys
    /// The values of `Decoder.userInfo` for the types being decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The largest nesting depth of arrays and objects. A deeper text is an error. The default is 512.
    ///
    /// The parser does not recurse, but a type that contains itself does. Before its recursion reaches the end of the
    /// thread's stack, the decode throws `DecodingError.dataCorrupted`, even when the type catches that error. A level
    /// of an enum that tries every kind of value takes up to 4.5 KiB in a debug build and 2 KiB in a release build. A
    /// stack of 512 KiB, as Apple's systems give to threads other than the main thread, has space for about 90 or 200
    /// levels, and a stack of 8 MiB for more than 512.
    public var maximumDepth = 512

    /// Creates a decoder with the default strategies of `JSONDecoder`.
    public init() {}

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError`, or the error of a decoded type's `init(from:)` or of a custom strategy.
    public func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try data.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// Decodes a value from bytes. They are copied once, and the copy lives until its last decoder is released.
    package func decode<T: Decodable>(_ type: T.Type, from bytes: UnsafeRawBufferPointer) throws -> T {
        try JSONDocument(bytes, decoder: self).decode(type)
    }
}

extension FastJSONDecoder {
    /// Decodes a value whose type needs a configuration, such as an `AttributedString`.
    ///
    /// - Throws: `DecodingError`, or the error of the type's `init(from:configuration:)`.
    public func decode<T: DecodableWithConfiguration>(
        _ type: T.Type, from data: Data, configuration: T.DecodingConfiguration
    ) throws -> T {
        try data.withUnsafeBytes { bytes in
            try JSONDocument(bytes, decoder: self).decode { try T(from: $0, configuration: configuration) }
        }
    }

    /// Decodes a value whose type needs a configuration, with the configuration of a provider.
    ///
    /// - Throws: `DecodingError`, or the error of the type's `init(from:configuration:)`.
    public func decode<T: DecodableWithConfiguration, C: DecodingConfigurationProviding>(
        _ type: T.Type, from data: Data, configuration: C.Type
    ) throws -> T where T.DecodingConfiguration == C.DecodingConfiguration {
        try decode(type, from: data, configuration: C.decodingConfiguration)
    }
}

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

/// The kind of a JSON value, for types that decode values of any kind.
package enum JSONKind {
    case null, bool, string, array, object
    /// A number, as it is written.
    case number(String)
}

extension FastJSONDecoder {
    /// Returns the kind of a decoder's value. Nil for the decoder of another format.
    package static func kind(of decoder: any Decoder) -> JSONKind? {
        guard let decoder = decoder as? JSONValueDecoder else { return nil }
        switch decoder.document.tape[decoder.index].kind {
        case .null: return .null
        case .false, .true: return .bool
        case .number: return .number(String(decoding: decoder.document.text(of: decoder.index), as: UTF8.self))
        case .string: return .string
        case .array: return .array
        case .object, .name: return .object
        }
    }
}
