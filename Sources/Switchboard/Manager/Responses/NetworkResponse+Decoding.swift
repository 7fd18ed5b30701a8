import Foundation

extension NetworkResponse {
    /// The body as a value.
    ///
    /// `Data` is the body as it is and `String` its text. An empty body is ``EmptyResponse``, or nil for an optional.
    /// Without a decoder the one of the request's ``ResponseHandling`` is used.
    ///
    /// - Throws: ``NetworkError/Code/noData`` when the body is empty and the type needs one,
    ///   ``NetworkError/Code/decodingFailed`` with key path, expected type and a short redacted piece of the body,
    ///   ``NetworkError/Code/unexpectedContentType`` when the body is of another media type altogether.
    public func decode<Value: Decodable>(
        _ type: Value.Type, decoder: (any ResponseDecoder)? = nil
    ) throws(NetworkError) -> Value {
        if body.isEmpty, let empty = type as? any ExpressibleByNilLiteral.Type,
            let value = empty.init(nilLiteral: ()) as? Value
        {
            return value
        }
        if let value = body as? Value { return value }
        if type == String.self || type == String?.self, let value = text as? Value { return value }
        if let value = EmptyResponse() as? Value { return value }
        guard !body.isEmpty else {
            throw failure(.noData, "\(type) was expected, and the \(statusCode) response has no body")
        }
        do {
            return try environment.run { try (decoder ?? handling.decoder).decode(type, from: body) }
        } catch {
            throw failure(for: error)
        }
    }

    private func failure(for error: any Error) -> NetworkError {
        let reason = DecodingFailure.describe(error, in: body)
        guard let mediaType = headers["Content-Type"]?.prefix(while: { $0 != ";" }).lowercased(), !mediaType.isEmpty,
            !mediaType.contains("json"), !mediaType.contains("plist"), mediaType.contains("html") || isNoJSON
        else { return failure(.decodingFailed, reason, error) }
        return failure(.unexpectedContentType, "what came is \(mediaType): \(reason)", error)
    }

    /// Whether the body cannot be JSON by its first character.
    private var isNoJSON: Bool {
        body.first { $0 > 0x20 }.map { !"{[\"-0123456789tfn".utf8.contains($0) } ?? true
    }

    private func failure(_ code: NetworkError.Code, _ reason: String, _ underlying: (any Error)? = nil) -> NetworkError
    {
        attribute(NetworkError(code, reason: reason, underlying: underlying).with(self))
    }
}
