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
/// settings and the order of members of that encoder apply.
public struct JSONBody: HTTPBody {
    /// The fields sent with the body. Initially only `Content-Type`.
    public var additionalHeaders: HTTPHeaders = [.contentType("application/json; charset=utf-8")]
    /// The encoder given at initialization. Nil selects the request's encoder, or `FastJSONEncoder`.
    var encoder: (any RequestEncoder)?
    /// The encoder of the request whose endpoint is being read.
    @TaskLocal static var requestEncoder: (any RequestEncoder)?
    private let makeData: @Sendable ((any RequestEncoder)?) throws -> Data

    /// Creates a body from an `Encodable` value: an object, an array or a scalar. A nil `encoder` selects the encoder
    /// of the manager or router, or else `FastJSONEncoder` with its defaults. A dictionary literal becomes
    /// ``Parameters`` instead, which keep their order.
    @_disfavoredOverload
    public init(_ value: some Encodable & Sendable, encoder: (any RequestEncoder)? = nil) {
        self.encoder = encoder
        makeData = { try ($0 ?? FastJSONEncoder.ofRequests).encode(value) }
    }

    /// Creates a body from an `Encodable` value, and encodes it now.
    ///
    /// Swift selects this initializer for a type that is not `Sendable`, or whose conformance to `Encodable` belongs to
    /// an actor. In a target whose default isolation is `MainActor`, this applies to every type that is not
    /// `nonisolated`. A body that the endpoint creates in its `task` uses the encoder of the manager or router. For a
    /// body that was created earlier, ``encode()`` throws if the manager has an encoder and `encoder` is nil. A body
    /// that several managers share, such as a `static let`, uses the encoder of the first manager that reads it.
    @_disfavoredOverload
    public init(_ value: some Encodable, encoder: (any RequestEncoder)? = nil) {
        let given = encoder ?? Self.requestEncoder
        let data = Result { try (given ?? FastJSONEncoder.ofRequests).encode(value) }
        self.encoder = given
        makeData = { encoder in
            guard given != nil || encoder == nil else {
                throw NetworkError(
                    .encodingFailed,
                    reason: "the JSONBody was encoded before its request chose an encoder: create it in the endpoint's "
                        + "`task`, give it the `encoder:`, or make its type nonisolated and Sendable")
            }
            return try data.get()
        }
    }

    /// Creates a body from an object literal or other parameters, in their order.
    ///
    /// Swift makes a dictionary of an object literal inside the literal, whose members are then sorted by name.
    /// `["user": ["b": 1, "a": 2] as Parameters]` keeps their order.
    public init(_ parameters: Parameters) {
        makeData = { try ($0 ?? FastJSONEncoder.ofRequests).encode(parameters) }
    }

    /// Creates a body from any literal: an array of mixed values, nested objects, null. A dictionary literal becomes
    /// ``Parameters``.
    @_disfavoredOverload
    public init(_ value: ParameterValue) {
        makeData = { try ($0 ?? FastJSONEncoder.ofRequests).encode(value) }
    }

    /// Returns the JSON text as UTF-8.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, with the error of the value's `encode(to:)` underneath.
    public func encode() throws -> Data {
        do {
            return try makeData(encoder)
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
