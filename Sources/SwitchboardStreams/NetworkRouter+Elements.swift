import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardText

extension NetworkRouter {
    /// The elements of one large JSON array, as they arrive: of the body itself, or of the array at a path of names.
    ///
    /// ```swift
    /// for try await movie in router.elements(of: .export, as: Movie.self, at: ["page", "results"]) { show(movie.title) }
    /// ```
    ///
    /// Only the element that is not complete is kept in memory, and the text around the array. Reading throws
    /// `NetworkError.Code.decodingFailed` for an element that is no such value, and at the end for a body that is not
    /// valid or has no such array.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - type: What an element decodes to.
    ///   - path: The names that lead to the array. Default none: the body is the array.
    ///   - decoder: Decodes the elements. Default that of a response handling without one of its own.
    ///   - limit: The most bytes of an element, and of the text around the array. More is
    ///     `NetworkError.Code.responseTooLarge`. Default 1 MiB.
    /// - Returns: The elements, read once.
    public func elements<Value: Decodable & Sendable>(
        of endPoint: EndPoint, as type: Value.Type, at path: [String] = [],
        decoder: FastJSONDecoder = .ofResponses, limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        let environment = Protected<CallEnvironment?>(nil)
        let bytes = ResponseBytes(opening: {
            let response = try await streamedResponse(for: endPoint, accept: "application/json")
            environment.withLock { $0 = response.environment }
            return response.bytes
        })
        return bytes.elements(as: type, at: path, decoder: decoder, limit: limit) { read in
            guard let environment = environment.value else { return try read() }
            try environment.run(read)
        }
    }
}

extension ResponseBytes {
    /// The elements of the JSON array that the body is, or has at a path of names, as they arrive; see
    /// ``Switchboard/NetworkRouter/elements(of:as:at:decoder:limit:)``.
    public func elements<Value: Decodable & Sendable>(
        as type: Value.Type, at path: [String] = [], decoder: FastJSONDecoder = .ofResponses, limit: Int = 1 << 20
    ) -> ResponseSequence<Value> {
        elements(as: type, at: path, decoder: decoder, limit: limit) { try $0() }
    }

    fileprivate func elements<Value: Decodable & Sendable>(
        as type: Value.Type, at path: [String], decoder: FastJSONDecoder, limit: Int,
        in run: @escaping @Sendable (() throws -> Void) throws -> Void
    ) -> ResponseSequence<Value> {
        var reader = JSONElementReader(type, decoder: decoder, at: path)
        return ResponseSequence(self) { chunk, elements in
            do {
                try run {
                    guard let chunk else { return try reader.finish() }
                    try chunk.withUnsafeBytes { bytes in try reader.read(bytes) { elements.append($0) } }
                }
            } catch let error as DecodingError {
                throw NetworkError(.decodingFailed, reason: DecodingFailure.cause(of: error), underlying: error)
            }
            guard reader.heldCount <= limit else {
                throw NetworkError(
                    .responseTooLarge, reason: "an element, or the text around the array, has more than \(limit) bytes")
            }
        }
    }
}
