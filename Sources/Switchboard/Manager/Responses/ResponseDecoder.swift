import Foundation
import SwitchboardJSON

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
