import Foundation
import SwitchboardJSON

/// A value encoded as JSON, with `Content-Type: application/json; charset=utf-8`.
///
/// ```swift
/// struct PagingParameters: Encodable { var page = 0, number = 10 }
/// JSONBody(PagingParameters())              // {"page":0,"number":10}
/// JSONBody(["id": 7, "tags": ["a", "b"]])   // {"id":7,"tags":["a","b"]}
/// ```
///
/// `FastJSONEncoder` is the default encoder. It keeps the order in which the value encodes its members, sorts the
/// members of a dictionary by name, and writes dates as ISO 8601 text and data as Base64. With a `JSONEncoder`, the
/// settings of that encoder apply, and the order of members is its own.
public struct JSONBody: HTTPBody {
    /// The fields sent with the body. Initially only `Content-Type`.
    public var additionalHeaders: HTTPHeaders = [.contentType("application/json; charset=utf-8")]
    /// The encoder given at initialization. Nil selects the request's encoder, or `FastJSONEncoder`.
    var encoder: (any RequestEncoder)?
    private let makeData: @Sendable (any RequestEncoder) throws -> Data

    /// Creates a body from an `Encodable` value: an object, an array or a scalar. A nil `encoder` selects the encoder
    /// of the manager or router, or else `FastJSONEncoder` with its defaults. A dictionary literal becomes
    /// ``Parameters`` instead, which keep their order.
    @_disfavoredOverload
    public init(_ value: some Encodable & Sendable, encoder: (any RequestEncoder)? = nil) {
        self.encoder = encoder
        makeData = { try $0.encode(value) }
    }

    /// Creates a body from an object literal or other parameters, in their order.
    public init(_ parameters: Parameters) {
        makeData = { try $0.encode(parameters) }
    }

    /// Creates a body from any literal: an array of mixed values, nested objects, null. A dictionary literal becomes
    /// ``Parameters``.
    @_disfavoredOverload
    public init(_ value: ParameterValue) {
        makeData = { try $0.encode(value) }
    }

    /// Returns the JSON text as UTF-8.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, with the error of the value's `encode(to:)` underneath.
    public func encode() throws -> Data {
        do {
            return try makeData(encoder ?? FastJSONEncoder())
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}

extension JSONBody {
    /// Rejects untyped values at compile time. Use `JSONBody(try Parameters(dictionary))`.
    @available(
        *, unavailable,
        message: "the value's type must be Encodable; for a [String: Any] write `JSONBody(try Parameters(dictionary))`"
    )
    @_disfavoredOverload
    public init(_ value: Any?) {
        self.init(ParameterValue.null)
    }
}
