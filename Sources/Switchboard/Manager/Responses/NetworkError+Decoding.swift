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
    /// - Throws: ``Code/noData`` when no body arrived or it is empty, ``Code/decodingFailed`` with the key path when it
    ///   has another shape. Both keep the request, the response and the history of this error.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        guard let body else { throw failure(.noData, "no response arrived that could be decoded: \(code.title)") }
        guard !body.isEmpty else { throw failure(.noData, "the error response has no body") }
        let handling = request?.options.responseHandling ?? RequestOptions().responseHandling
        do {
            return try (request?.callEnvironment).run { try (decoder ?? handling.decoder).decode(type, from: body) }
        } catch {
            let owner = status.map { "the body of the \($0)" } ?? "the error's body"
            let reason = DecodingFailure.describe(error, in: body, as: type)
            throw failure(.decodingFailed, "\(owner) is no \(TypeText.text(of: type)): \(reason)", error)
        }
    }

    /// Returns an error about the same request and response.
    private func failure(_ code: Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError {
        var error = NetworkError(code, reason: reason, underlying: underlying)
        (error.url, error.method, error.endPoint, error.requestBox) = (url, method, endPoint, requestBox)
        (error.status, error.headers, error.body, error.attempts) = (status, headers, body, attempts)
        return error
    }
}
