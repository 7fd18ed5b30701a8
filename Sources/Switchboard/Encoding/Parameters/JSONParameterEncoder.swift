import Foundation
import SwitchboardJSON

/// Writes parameters into the body as a JSON object, with `Content-Type: application/json` unless the request sets that
/// field.
///
/// Members keep their order. Of repeated names only the last is written, because parsers treat repeated names
/// differently ([RFC 8259 §4](https://www.rfc-editor.org/rfc/rfc8259#section-4)).
public struct JSONParameterEncoder: ParameterEncoder {
    /// Whether members are sorted by name. Default false.
    public var sortsKeys: Bool
    /// Whether the text has line breaks and indentation. Default false.
    public var isPretty: Bool
    /// The format of dates. Default ``URLEncodedFormEncoder/DateEncoding/iso8601``.
    public var dateEncoding: URLEncodedFormEncoder.DateEncoding

    /// Creates an encoder.
    public init(
        sortsKeys: Bool = false, isPretty: Bool = false, dateEncoding: URLEncodedFormEncoder.DateEncoding = .iso8601
    ) {
        self.sortsKeys = sortsKeys
        self.isPretty = isPretty
        self.dateEncoding = dateEncoding
    }

    /// Replaces the request's body with the JSON object.
    ///
    /// - Throws: ``NetworkError/Code/encodingFailed``, which names the parameter that cannot be written.
    public func encode(_ parameters: Parameters, into request: inout NetworkRequest) throws(NetworkError) {
        do {
            var encoder = FastJSONEncoder(dateEncoding: dateEncoding)
            if sortsKeys { encoder.outputFormatting.insert(.sortedKeys) }
            if isPretty { encoder.outputFormatting.insert(.indented) }
            request.body = DataBody(try encoder.encode(parameters), contentType: "application/json")
        } catch {
            throw NetworkError.encoding(error)
        }
    }
}
