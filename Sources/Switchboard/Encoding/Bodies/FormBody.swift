import Foundation

/// Names and values as a form, with `Content-Type: application/x-www-form-urlencoded; charset=utf-8`.
///
/// ```swift
/// FormBody(["greeting": "Hello, ", "target": "🌎"])   // greeting=Hello%2C%20&target=%F0%9F%8C%8E
/// ```
///
/// Order and repeats are kept. A blank is `%20`, or `+` with an encoder that says so.
public struct FormBody: HTTPBody {
    /// The fields sent with the body: at first the `Content-Type` alone.
    public var additionalHeaders: HTTPHeaders = [.contentType("application/x-www-form-urlencoded; charset=utf-8")]
    private let makeText: @Sendable () throws -> String

    /// A form of these parameters.
    public init(_ parameters: Parameters, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { try encoder.encode(parameters) }
    }

    /// A form of these pairs: a nil value gives the bare name, an empty one the name and `=`.
    public init(_ items: [URLQueryItem], encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { encoder.encode(items) }
    }

    /// A form of a value's members.
    public init(encoding value: some Encodable & Sendable, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        makeText = { try encoder.encode(value) }
    }

    /// The form text.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, naming what cannot be written.
    public func encode() throws -> Data {
        Data(try makeText().utf8)
    }
}
