/// Returns a decoder in place of that of a response, for a value that is `Sendable`: other calls may get it too.
package enum SharedDecoding: RequestOption {
    package static let defaultValue: (@Sendable (any ResponseDecoder) -> any ResponseDecoder)? = nil
}

extension NetworkResponse {
    /// Decodes the body to a value that other calls may get too.
    func decodeShared<Value: Decodable & Sendable>(_ type: Value.Type) throws(NetworkError) -> Value {
        try decode(type, decoder: request?[SharedDecoding.self]?(handling.decoder))
    }
}
