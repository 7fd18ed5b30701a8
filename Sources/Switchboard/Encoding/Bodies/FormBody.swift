import Foundation

/// A form of names and values, with `Content-Type: application/x-www-form-urlencoded; charset=utf-8`.
///
/// ```swift
/// // greeting=Hello%2C%20&target=%F0%9F%8C%8E
/// FormBody(["greeting": "Hello, ", "target": "🌎"])
/// ```
///
/// The form keeps the order of its pairs and all repeated names. A space becomes `%20`, or `+` if the encoder's
/// ``URLEncodedFormEncoder/spaceEncoding`` is ``URLEncodedFormEncoder/SpaceEncoding/plusReplaced``.
public struct FormBody: HTTPBody {
    /// The fields sent with the body. Initially only `Content-Type`.
    public var additionalHeaders: HTTPHeaders = [.contentType(Self.contentType)]
    static let contentType = "application/x-www-form-urlencoded; charset=utf-8"
    private let makeText: @Sendable () throws -> String

    /// Creates a form from parameters.
    public init(_ parameters: Parameters, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { try encoder.encode(parameters) }
    }

    /// Creates a form from pairs. A nil value is written as the name alone, an empty value as the name and `=`.
    public init(_ items: [URLQueryItem], encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { encoder.encode(items) }
    }

    /// Creates a form from the members of an `Encodable` value.
    @_disfavoredOverload
    public init(_ value: some Encodable & Sendable, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { try encoder.encode(value) }
    }

    /// Creates a form from the members of an `Encodable` value, and encodes it now. Swift selects this initializer for
    /// the types of ``JSONBody/init(_:encoder:)-(Encodable,_)``.
    @_disfavoredOverload
    public init(_ value: some Encodable, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        let text = Result { try encoder.encode(value) }
        makeText = { try text.get() }
    }

    /// Returns the form text as UTF-8.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, which names the value that cannot be written.
    public func encode() throws -> Data {
        Data(try makeText().utf8)
    }
}
