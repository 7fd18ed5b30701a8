import SwitchboardJSON
import SwitchboardText
import Foundation

/// Decodes values from bodies. `FastJSONDecoder`, `JSONDecoder` and `PropertyListDecoder` conform to it.
public protocol ResponseDecoder: Sendable {
    /// Returns the decoded value. If it throws a `DecodingError`, the reason of the call's error contains the key path.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension FastJSONDecoder: ResponseDecoder {}
extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

extension FastJSONDecoder {
    /// The default decoder of a ``ResponseHandling``. It reads dates in ISO 8601, with or without a fraction, as
    /// ``JSONBody`` writes them. It reads dates that are numbers as a plain `JSONDecoder` does. Change its properties
    /// for other formats:
    ///
    /// ```swift
    /// import SwitchboardJSON
    ///
    /// var decoder = FastJSONDecoder.ofResponses
    /// decoder.keyDecodingStrategy = .convertFromSnakeCase
    /// let manager = NetworkManager(decoder: decoder)
    /// ```
    public static var ofResponses: FastJSONDecoder {
        var decoder = FastJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601OrDeferred
        return decoder
    }
}

/// A value inside an object, at ``NetworkResponse/nestedPath``.
struct NestedValue<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let keys = NetworkResponse.nestedPath.map { JSONPathKey(stringValue: $0) }
        guard let last = keys.last else {
            value = try decoder.singleValueContainer().decode(Value.self)
            return
        }
        var container = try decoder.container(keyedBy: JSONPathKey.self)
        for key in keys.dropLast() { container = try container.nestedContainer(keyedBy: JSONPathKey.self, forKey: key) }
        value = try container.decode(Value.self, forKey: last)
    }
}

extension NetworkResponse {
    /// The names that lead to the value to decode.
    @TaskLocal static var nestedPath: [String] = []
}

extension NetworkError {
    /// Decodes the server's error body.
    ///
    /// - Parameters:
    ///   - type: The type of the server's error.
    ///   - decoder: Decodes the body. Nil, the default, selects the decoder of the request's ``ResponseHandling``,
    ///     which is the manager's.
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
            let subject = statusCode.map { "the body of the \($0)" } ?? "the error's body"
            let reason = DecodingFailure.describe(error, in: body, as: type)
            throw failure(.decodingFailed, "\(subject) is no \(TypeText.text(of: type)): \(reason)", error)
        }
    }

    /// Returns an error about the same request and response.
    private func failure(_ code: Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError {
        var error = NetworkError(code, reason: reason, underlying: underlying)
        (error.url, error.method, error.endPoint, error.request) = (url, method, endPoint, request)
        (error.statusCode, error.headers, error.body, error.attempts) = (statusCode, headers, body, attempts)
        return error
    }
}
