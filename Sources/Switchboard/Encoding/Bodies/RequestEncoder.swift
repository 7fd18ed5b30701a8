import Foundation
import SwitchboardJSON
import SwitchboardText

/// Encodes the value of a ``JSONBody``. `FastJSONEncoder` and `JSONEncoder` conform.
public protocol RequestEncoder: Sendable {
    /// Returns the encoded value. The key path of a thrown `EncodingError` becomes part of the request's error.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension FastJSONEncoder: RequestEncoder {}
extension JSONEncoder: RequestEncoder {}

extension FastJSONEncoder {
    /// The default encoder of a ``JSONBody``. It writes dates in ISO 8601, with milliseconds unless they are zero, as
    /// `FastJSONDecoder.ofResponses` reads them.
    public static var ofRequests: FastJSONEncoder {
        var encoder = FastJSONEncoder()
        encoder.dateEncodingStrategy = .iso8601WithMilliseconds
        return encoder
    }

    package init(dateEncoding: URLEncodedFormEncoder.DateEncoding) {
        self.init()
        dateEncodingStrategy = .custom { date, encoder in
            let value: ParameterValue
            do {
                value = try dateEncoding.value(date)
            } catch {
                let path = encoder.codingPath.pathText
                throw NetworkError(
                    .encodingFailed, reason: EncodingFailure.describe(error, at: path), underlying: error)
            }
            try value.encode(to: encoder)
        }
    }
}
