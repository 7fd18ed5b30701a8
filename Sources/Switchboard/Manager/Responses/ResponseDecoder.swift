import Foundation

/// Makes a value of a body. `JSONDecoder` and `PropertyListDecoder` are two.
public protocol ResponseDecoder: Sendable {
    /// The value, or what was wrong: a `DecodingError` gets its key path into the error's reason.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}

extension JSONDecoder {
    /// A new decoder, as a ``ResponseHandling`` has that is given none: it reads dates as ``JSONBody`` writes them, ISO 8601
    /// with or without a fraction, and numbers as a plain `JSONDecoder` does. Change what should differ:
    ///
    /// ```swift
    /// let decoder = JSONDecoder.ofResponses
    /// decoder.keyDecodingStrategy = .convertFromSnakeCase
    /// let manager = NetworkManager(decoder: decoder)
    /// ```
    public static var ofResponses: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let text = try? container.decode(String.self) else {
                return Date(timeIntervalSinceReferenceDate: try container.decode(Double.self))
            }
            for hasFraction in [false, true] {
                let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected an ISO 8601 date")
        }
        return decoder
    }
}
