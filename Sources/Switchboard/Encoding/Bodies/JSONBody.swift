import Foundation
import SwitchboardJSON

/// A value as JSON, with `Content-Type: application/json; charset=utf-8`.
///
/// ```swift
/// struct PagingParameters: Encodable { var page = 0, number = 10 }
/// JSONBody(PagingParameters())                       // {"page":0,"number":10}
/// JSONBody(["id": 7, "tags": ["a", "b"]])            // {"id":7,"tags":["a","b"]}
/// ```
///
/// Without an encoder of yours the members stand in the order in which the value encodes them, those of a dictionary by
/// name, a date is ISO 8601 text and data is Base64, as `FastJSONEncoder` writes them. With a `JSONEncoder` that encoder
/// decides, order included.
public struct JSONBody: HTTPBody {
    /// The fields sent with the body: at first the `Content-Type` alone.
    public var additionalHeaders: HTTPHeaders = [.contentType("application/json; charset=utf-8")]
    /// The encoder given at the start; nil for that of the request, or `FastJSONEncoder`.
    var encoder: (any RequestEncoder)?
    private let makeData: @Sendable (any RequestEncoder) throws -> Data

    /// A body of an `Encodable` value: an object, an array or a scalar. Without an encoder that of the manager or
    /// router is used, and without that one, `FastJSONEncoder` with its defaults. A dictionary literal is taken for
    /// parameters instead, whose order is kept.
    @_disfavoredOverload
    public init(_ value: some Encodable & Sendable, encoder: (any RequestEncoder)? = nil) {
        self.encoder = encoder
        makeData = { try $0.encode(value) }
    }

    /// A body of an object literal or other parameters, in their order.
    public init(_ parameters: Parameters) {
        makeData = { try $0.encode(parameters) }
    }

    /// A body of any literal: an array of mixed values, nested objects, null. A dictionary literal is taken for
    /// parameters.
    @_disfavoredOverload
    public init(_ value: ParameterValue) {
        makeData = { try $0.encode(value) }
    }

    /// The JSON text as UTF-8.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed`` over what the value's own encoding threw.
    public func encode() throws -> Data {
        do {
            return try makeData(encoder ?? FastJSONEncoder())
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
