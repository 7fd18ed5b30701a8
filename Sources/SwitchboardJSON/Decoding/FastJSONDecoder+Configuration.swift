import Foundation

extension FastJSONDecoder {
    /// Decodes a value whose type needs a configuration, such as an `AttributedString`.
    ///
    /// - Throws: `DecodingError`, or the error of the type's `init(from:configuration:)`.
    public func decode<T: DecodableWithConfiguration>(
        _ type: T.Type, from data: Data, configuration: T.DecodingConfiguration
    ) throws -> T {
        try data.withUnsafeBytes { bytes in
            try JSONDocument(bytes, decoder: self).decode { try T(from: $0, configuration: configuration) }
        }
    }

    /// Decodes a value whose type needs a configuration, with that of a provider.
    ///
    /// - Throws: `DecodingError`, or the error of the type's `init(from:configuration:)`.
    public func decode<T: DecodableWithConfiguration, C: DecodingConfigurationProviding>(
        _ type: T.Type, from data: Data, configuration: C.Type
    ) throws -> T where T.DecodingConfiguration == C.DecodingConfiguration {
        try decode(type, from: data, configuration: C.decodingConfiguration)
    }
}
