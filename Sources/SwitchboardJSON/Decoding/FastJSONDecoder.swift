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
///    bytes and stores on the tape where it expects the next name. Coding paths and positions are computed only for
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

    /// Decodes a value from bytes.
    package func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}
