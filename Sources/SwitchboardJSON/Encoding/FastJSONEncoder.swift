import Foundation

/// Writes `Encodable` values as JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)), several times as fast as
/// `JSONEncoder`.
///
/// ```swift
/// struct Film: Encodable { var id = 7, title = "Alien", tags = ["a", "b"] }
/// try FastJSONEncoder().encode(Film())               // {"id":7,"title":"Alien","tags":["a","b"]}
/// ```
///
/// By default members stand in the order in which a value encodes them and those of a dictionary by name, a date is
/// ISO 8601 text with milliseconds when there are some, data is Base64, and slashes are not escaped. The settings of
/// `JSONEncoder` are here under their names; where they are equal, so is the text, but for these:
/// - A control character without a short escape is `\u001F`, and a backspace `\u0008`.
/// - A top-level value that encodes nothing is `{}`, not an error.
/// - A value nested deeper than ``maximumDepth`` is an error.
/// - Where `JSONEncoder` traps, because a value writes itself twice, the last counts; a container that is used after its
///   value was encoded throws.
///
/// ## Design
/// The text is written once, into one buffer (`OutputBytes`), while the containers of a value are used in order. Each
/// value on the way has an `OutputFrame`: where its text begins, whether it is an object or an array, how many members
/// it has. A container is the writer and the number of its frame, so handing one out allocates nothing but the box of
/// `KeyedEncodingContainer`. Swift lets nested containers and super encoders be written to at any time until the end:
/// when something is written around one that is open, it moves to an `OutputWriter` of its own, whose text is inserted
/// at its place at the end. Objects whose members must be moved (sorted names, repeated names) are written anew when
/// they are closed. Arrays, optionals and dictionaries with `String` keys are written without their `encode(to:)`.
public struct FastJSONEncoder: Sendable {
    /// The layout. Default ``OutputFormatting/withoutEscapingSlashes``.
    public var outputFormatting: OutputFormatting = .withoutEscapingSlashes
    /// How a date is written. Default ``DateEncodingStrategy/iso8601WithMilliseconds``.
    public var dateEncodingStrategy: DateEncodingStrategy = .iso8601WithMilliseconds
    /// How data is written. Default ``DataEncodingStrategy/base64``.
    public var dataEncodingStrategy: DataEncodingStrategy = .base64
    /// What becomes of an infinity or a NaN. Default ``NonConformingFloatEncodingStrategy/throw``.
    public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy = .throw
    /// How names are made of keys. Default ``KeyEncodingStrategy/useDefaultKeys``.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
    /// What values find in `userInfo` of their encoder. Default empty.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// How many arrays and objects may stand in one another. Default 128: a value's own `encode(to:)` uses the stack,
    /// and more could overflow that of a small thread.
    public var maximumDepth = 128

    /// Makes an encoder with the defaults.
    public init() {}

    /// The JSON text of a value as UTF-8.
    ///
    /// - Throws: `EncodingError` with the coding path of a value that JSON cannot write, and whatever the value's own
    ///   `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        try withText(of: value) { Data($0) }
    }

    /// Appends the JSON text of a value. Nothing is appended when an error is thrown.
    package func append(_ value: some Encodable, to bytes: inout [UInt8]) throws {
        try withText(of: value) { bytes += $0 }
    }

    private func withText<Result>(
        of value: some Encodable, _ use: (UnsafeBufferPointer<UInt8>) -> Result
    ) throws -> Result {
        let settings = OutputSettings(self)
        let writer = OutputWriter(settings: settings)
        defer {
            writer.end()
            for writer in settings.writers { writer.end() }
            settings.writers = []
        }
        try writer.write(value, key: { nil })
        return use(try writer.finished(value))
    }

    /// Writes a number as the text it has, for a value that knows more digits than any number type holds.
    ///
    /// Call it once in `encode(to:)`, in place of a single-value container.
    ///
    /// - Returns: False when another encoder than ours encodes the value; nothing is written then.
    /// - Throws: `EncodingError` for text that is no number of JSON (RFC 8259 §6).
    package static func write(number text: String, to encoder: any Encoder) throws -> Bool {
        guard let encoder = encoder as? OutputEncoder else { return false }
        try encoder.write(number: text)
        return true
    }
}
