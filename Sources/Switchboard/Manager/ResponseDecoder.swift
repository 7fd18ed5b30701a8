import Foundation

/// Makes a value of a body. `JSONDecoder` and `PropertyListDecoder` are two.
public protocol ResponseDecoder: Sendable {
    /// The value, or what was wrong: a `DecodingError` gets its key path into the error's reason.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: ResponseDecoder {}
extension PropertyListDecoder: ResponseDecoder {}
