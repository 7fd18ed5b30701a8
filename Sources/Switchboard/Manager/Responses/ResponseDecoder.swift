import Foundation
import SwitchboardJSON

/// Makes a value of a body. `FastJSONDecoder`, `JSONDecoder` and `PropertyListDecoder` are three.
public protocol ResponseDecoder: Sendable {
    /// The value, or what was wrong: a `DecodingError` gets its key path into the error's reason.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension FastJSONDecoder: ResponseDecoder {}
extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

extension FastJSONDecoder {
    /// The decoder of a ``ResponseHandling`` that is given none: it reads dates as ``JSONBody`` writes them, ISO 8601
    /// with or without a fraction, and numbers as a plain `JSONDecoder` does. Change what should differ:
    ///
    /// ```swift
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
