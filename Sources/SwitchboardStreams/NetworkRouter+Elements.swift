import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardText

extension NetworkRouter {
    /// Returns the elements of one large JSON array as they arrive. The array is the body itself, or the value at a
    /// path of names.
    ///
    /// ```swift
    /// let movies = router.elements(
    ///     for: .export, as: Movie.self, at: ["page", "results"])
    /// for try await movie in movies { show(movie.title) }
    /// ```
    ///
    /// Memory holds only the incomplete element and the text around the array. Reading throws
    /// `NetworkError.Code.decodingFailed` for an element that cannot be decoded, for an invalid body, and for a body
    /// without such an array.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint.
    ///   - type: The type of an element, which the decoder of the options decodes.
    ///   - path: The names in the JSON that lead to the array. The decoder's key strategy does not change them. Default
    ///     none: the body is the array.
    ///   - options: Options for this call. They override those of the endpoint. Default none.
    ///   - limit: The maximum number of bytes of an element, and of the text around the array. More throws
    ///     `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The elements, to be read once.
    public func elements<Value: Decodable & Sendable>(
        for endPoint: EndPoint, as type: Value.Type, at path: [String] = [], options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(of: prepare(endPoint, options, accept: "application/json"))
            .elements(as: type, at: path, limit: limit, on: nil)
    }

    /// Returns the elements of an array, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func elements<Value: Decodable>(
        for endPoint: EndPoint, as type: Value.Type, at path: [String] = [], options: RequestOptions = RequestOptions(),
        limit: Int = 1 << 20, isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(of: prepare(endPoint, options, accept: "application/json"))
            .elements(as: type, at: path, limit: limit, on: isolation)
    }
}

extension ResponseBytes {
    /// Returns the elements of a JSON array as they arrive. The array is the body itself, or the value at a path of
    /// names. See `NetworkRouter.elements(for:as:at:options:limit:isolation:)`.
    public func elements<Value: Decodable & Sendable>(
        as type: Value.Type, at path: [String] = [], decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20,
        isolation: isolated (any Actor)? = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(self, decoder).elements(as: type, at: path, limit: limit, on: nil)
    }

    /// Returns the elements of an array, decoded on the caller's actor; see
    /// `NetworkRouter.request(_:as:options:isolation:)`.
    public func elements<Value: Decodable>(
        as type: Value.Type, at path: [String] = [], decoder: (any ResponseDecoder)? = nil, limit: Int = 1 << 20,
        isolation: isolated any Actor = #isolation
    ) -> ResponseSequence<Value> {
        DecodedBytes(self, decoder).elements(as: type, at: path, limit: limit, on: isolation)
    }
}

extension DecodedBytes {
    fileprivate func elements<Value: Decodable>(
        as type: Value.Type, at path: [String], limit: Int, on actor: (any Actor)?
    ) -> ResponseSequence<Value> {
        let decoding = decoding
        // Created with the first chunk, when the response has arrived.
        lazy var reader = decoding.run { JSONElementReader(type, decodedBy: $0, at: path, limit: limit) }
        return ResponseSequence(bytes, on: actor) { chunk, elements in
            do {
                try decoding.run { _ in
                    guard let chunk else { return try reader.finish() }
                    try chunk.withUnsafeBytes { bytes in try reader.read(bytes) { elements.append($0) } }
                }
            } catch is JSONElementReader<Value>.TooLarge {
                throw NetworkError(
                    .responseTooLarge, reason: "an element, or the text around the array, has more than \(limit) bytes")
            } catch let error where !(error is NetworkError || error is CancellationError) {
                throw NetworkError(.decodingFailed, reason: DecodingFailure.cause(of: error), underlying: error)
            }
        }
    }
}

extension JSONElementReader {
    /// Creates a reader with any decoder. A decoder other than `FastJSONDecoder` gets a copy of each element.
    fileprivate init(_ type: Element.Type, decodedBy decoder: any ResponseDecoder, at path: [String], limit: Int) {
        if let decoder = decoder as? FastJSONDecoder {
            self.init(type, decoder: decoder, at: path, limit: limit)
        } else {
            let decode = { (text: UnsafeRawBufferPointer) in try decoder.decode(type, from: Data(text)) }
            self.init(type, decoder: .ofResponses, decode: decode, at: path, limit: limit)
        }
    }
}
