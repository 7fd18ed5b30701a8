import Foundation

extension FastJSONEncoder {
    /// Returns the JSON text of a value whose type needs a configuration, as UTF-8.
    ///
    /// - Throws: `EncodingError`, or the error of the value's `encode(to:configuration:)`.
    public func encode<T: EncodableWithConfiguration>(
        _ value: T, configuration: T.EncodingConfiguration
    ) throws -> Data {
        try encode(Configured(value: value, configuration: configuration))
    }

    /// Returns the JSON text of a value whose type needs a configuration, with that of a provider.
    ///
    /// - Throws: `EncodingError`, or the error of the value's `encode(to:configuration:)`.
    public func encode<T: EncodableWithConfiguration, C: EncodingConfigurationProviding>(
        _ value: T, configuration: C.Type
    ) throws -> Data where T.EncodingConfiguration == C.EncodingConfiguration {
        try encode(value, configuration: C.encodingConfiguration)
    }

    private struct Configured<Value: EncodableWithConfiguration>: Encodable {
        let value: Value
        let configuration: Value.EncodingConfiguration

        func encode(to encoder: any Encoder) throws { try value.encode(to: encoder, configuration: configuration) }
    }
}
