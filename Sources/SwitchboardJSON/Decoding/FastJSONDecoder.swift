import Foundation

/// Decodes values from JSON with the strategies of Foundation's `JSONDecoder`, more strictly and faster.
///
/// ```swift
/// var decoder = FastJSONDecoder()
/// decoder.keyDecodingStrategy = .convertFromSnakeCase
/// let page = try decoder.decode(MoviePage.self, from: data)
/// ```
///
/// The text must be UTF-8 as [RFC 8259](https://www.rfc-editor.org/rfc/rfc8259) requires. Invalid UTF-8, lone
/// surrogates, trailing commas, leading zeros and anything after the value are errors. A leading byte-order mark is
/// skipped. When an object repeats a name, the first member counts, as in `JSONDecoder`. Names are compared by their
/// UTF-8 bytes. An input of 4 GB or more is an error. Each error is a `DecodingError` whose description states line,
/// column and byte offset. `allowsJSON5` does not exist here, because a second grammar would make the parser of every
/// text larger and slower.
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
    /// The parser does not recurse. Types that decode themselves recursively use the stack.
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
        try JSONDocument(bytes, decoder: self).value(type, at: JSONDocument.root)
    }

    /// Decodes a value from bytes.
    package func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }
}
