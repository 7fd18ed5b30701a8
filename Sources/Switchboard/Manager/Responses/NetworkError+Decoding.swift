import Foundation
import SwitchboardText

extension NetworkError {
    /// Decodes the server's error body.
    ///
    /// - Parameters:
    ///   - type: The type of the server's error.
    ///   - decoder: Decodes the body. Nil, the default, for the decoder of the request's ``ResponseHandling``, which is
    ///     the manager's.
    /// - Returns: The server's error.
    /// - Throws: ``Code/noData`` when the body is empty, ``Code/decodingFailed`` with the key path when it has another
    ///   shape.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        guard let body, !body.isEmpty else { throw NetworkError(.noData, reason: "the error response has no body") }
        let handling = request?.options.responseHandling ?? RequestOptions().responseHandling
        do {
            return try (request?.callEnvironment).run { try (decoder ?? handling.decoder).decode(type, from: body) }
        } catch {
            throw NetworkError(.decodingFailed, reason: DecodingFailure.describe(error, in: body), underlying: error)
        }
    }
}
