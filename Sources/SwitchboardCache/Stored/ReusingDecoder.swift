import Foundation
import Switchboard
import SwitchboardJSON

/// Decodes values of `Sendable` types, or returns those that an earlier call decoded from the same body.
private struct ReusingDecoder: ResponseDecoder {
    let decoder: any ResponseDecoder
    let values: DecodedValues
    let body: Data
    let kept: KeptValues

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        // An interceptor before the cache may have changed the body.
        guard decoder.decodes(like: decoder), data == body else { return try decoder.decode(type, from: data) }
        if let value = values.find(type, by: decoder) { return value }
        let value = try decoder.decode(type, from: data)
        values.keep(value, as: type, by: decoder)
        kept.add(values)
        return value
    }
}

extension NetworkResponse {
    /// Lets the decoder of the response reuse the decoded values of a stored response.
    mutating func reuse(_ values: DecodedValues, of body: Data, _ kept: KeptValues) {
        request?[SharedDecoding.self] = { ReusingDecoder(decoder: $0, values: values, body: body, kept: kept) }
    }
}

extension ResponseDecoder {
    /// Returns whether another decoder certainly decodes equal values. False for an object, whose settings may change.
    func decodes(like other: any ResponseDecoder) -> Bool {
        if let own = self as? FastJSONDecoder {
            return (other as? FastJSONDecoder).map(own.hasSettings) ?? false
        }
        guard !(type(of: self) is AnyClass), let own = self as? any Equatable else { return false }
        return own.isEqual(to: other)
    }
}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}

extension FastJSONDecoder {
    /// Returns whether another decoder has these settings. False with closures and formatters, which cannot be compared.
    fileprivate func hasSettings(of other: FastJSONDecoder) -> Bool {
        switch (dateDecodingStrategy, other.dateDecodingStrategy) {
        case (.deferredToDate, .deferredToDate), (.secondsSince1970, .secondsSince1970), (.iso8601, .iso8601),
            (.millisecondsSince1970, .millisecondsSince1970), (.iso8601OrDeferred, .iso8601OrDeferred):
            break
        default: return false
        }
        switch (dataDecodingStrategy, other.dataDecodingStrategy) {
        case (.deferredToData, .deferredToData), (.base64, .base64): break
        default: return false
        }
        switch (keyDecodingStrategy, other.keyDecodingStrategy) {
        case (.useDefaultKeys, .useDefaultKeys), (.convertFromSnakeCase, .convertFromSnakeCase): break
        default: return false
        }
        switch (nonConformingFloatDecodingStrategy, other.nonConformingFloatDecodingStrategy) {
        case (.throw, .throw): break
        case (.convertFromString(let one, let two, let three), .convertFromString(let a, let b, let c)):
            guard (one, two, three) == (a, b, c) else { return false }
        default: return false
        }
        return userInfo.isEmpty && other.userInfo.isEmpty && maximumDepth == other.maximumDepth
    }
}
