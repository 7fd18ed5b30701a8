import Foundation

/// Writes `Encodable` values as JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)), several times as fast as
/// `JSONEncoder`.
///
/// ```swift
/// struct Film: Encodable {
///     var id = 7, title = "Alien", tags = ["a", "b"]
/// }
/// // {"id":7,"title":"Alien","tags":["a","b"]}
/// try FastJSONEncoder().encode(Film())
/// ```
///
/// By default an object's members keep the order in which the value encodes them, and a dictionary's members are sorted
/// by name. Slashes are not escaped. Otherwise the defaults are those of `JSONEncoder`: a date is a number of seconds
/// since 2001, and data is Base64. The settings have the names that `JSONEncoder` uses. Equal
/// settings produce equal text, with these exceptions:
/// - Without ``OutputFormatting/sortedKeys``, `JSONEncoder` writes members in no defined order.
/// - A top-level value that encodes nothing is `{}`, not an error.
/// - A value nested deeper than ``maximumDepth``, or too deeply for the stack of the thread, is an error.
/// - `JSONEncoder` traps when a value writes itself twice. Here the last write counts. A container that is used after
///   its value was encoded, or while it encodes another value, throws.
/// - The coding path of a value in a nested container has all keys. `JSONEncoder` omits the container's
///   keys.
///
/// ## Design
/// The text is written once, into one buffer (`OutputBytes`), while the containers of a value are used in order. Each
/// open value has an `OutputFrame` with the start of its text, its kind and the number of its members. A container
/// consists of the writer and the number of its frame, so creating one allocates only the box of
/// `KeyedEncodingContainer`. Swift allows writes to nested containers and super encoders until their value is
/// encoded. When an enclosing value is written to while one is open, the open one moves to a separate `OutputWriter`. Its
/// text is inserted at its position at the end. Objects whose members must move (sorted names, repeated names) are
/// rewritten when they are closed. Arrays, optionals and dictionaries with `String` keys are written without their
/// `encode(to:)`.
public struct FastJSONEncoder: Sendable {
    /// The layout of the text. The default is ``OutputFormatting/withoutEscapingSlashes``.
    public var outputFormatting: OutputFormatting = .withoutEscapingSlashes
    /// The strategy for dates. The default is ``DateEncodingStrategy/deferredToDate``.
    public var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate
    /// The strategy for `Data`. The default is ``DataEncodingStrategy/base64``.
    public var dataEncodingStrategy: DataEncodingStrategy = .base64
    /// The strategy for infinity and NaN. The default is ``NonConformingFloatEncodingStrategy/throw``.
    public var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy = .throw
    /// The strategy for converting coding keys to names. The default is ``KeyEncodingStrategy/useDefaultKeys``.
    public var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
    /// The values of `Encoder.userInfo` for the values being encoded. The default is empty.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// The largest nesting depth of arrays and objects. The default is 128.
    ///
    /// Each value's `encode(to:)` uses the stack. With a higher limit, encoding throws before the end of the thread's
    /// stack, but releasing a value that contains itself thousands of times can still overflow the stack.
    public var maximumDepth = 128

    /// Creates an encoder with the default settings.
    public init() {}

    /// Returns the JSON text of a value as UTF-8.
    ///
    /// - Throws: `EncodingError` with the coding path of a value that JSON cannot express, or the error of the value's
    ///   `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value) throws -> Data {
        let settings = OutputSettings(self)
        let writer = OutputWriter(settings: settings)
        defer {
            writer.end()
            for writer in settings.writers { writer.end() }
            settings.writers = []
        }
        try writer.write(value, key: { nil })
        let state = try writer.finished(value)
        return state.pointee.bytes.takeData()
    }

    /// Writes a number from its text, for values with more digits than any number type holds.
    ///
    /// Call it once in `encode(to:)`, in place of a single-value container.
    ///
    /// - Returns: False, without writing anything, when `encoder` is not one of `FastJSONEncoder`.
    /// - Throws: `EncodingError` for text that is not a JSON number (RFC 8259 §6).
    package static func write(number text: String, to encoder: any Encoder) throws -> Bool {
        guard let encoder = encoder as? OutputEncoder else { return false }
        try encoder.write(number: text)
        return true
    }
}

extension FastJSONEncoder {
    /// Returns the JSON text of a value whose type needs a configuration, as UTF-8.
    ///
    /// - Throws: `EncodingError`, or the error of the value's `encode(to:configuration:)`.
    public func encode<T: EncodableWithConfiguration>(
        _ value: T, configuration: T.EncodingConfiguration
    ) throws -> Data {
        try encode(Configured(value: value, configuration: configuration))
    }

    /// Returns the JSON text of a value whose type needs a configuration, with the configuration of a provider.
    ///
    /// - Throws: `EncodingError`, or the error of the value's `encode(to:configuration:)`.
    public func encode<T: EncodableWithConfiguration, C: EncodingConfigurationProviding>(
        _ value: T, configuration: C.Type
    ) throws -> Data where T.EncodingConfiguration == C.EncodingConfiguration {
        try encode(value, configuration: C.encodingConfiguration)
    }

    private struct Configured<Value: EncodableWithConfiguration>: Encodable {
        let value: Value
        let configuration: Value.EncodingConfiguration

        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, configuration: configuration) }
    }
}

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
        /// A year outside 1 to 9999 is an error.
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
