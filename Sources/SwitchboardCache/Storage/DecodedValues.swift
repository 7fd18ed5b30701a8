import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardJSON

/// The values that calls decoded from the body of a stored response. They live as long as the response.
final class DecodedValues: @unchecked Sendable {  // ``changes`` guards the entries
    private struct Entry: @unchecked Sendable {  // only calls for a `Sendable` value decode it
        let type: ObjectIdentifier
        let decoder: any ResponseDecoder
        let value: Any
    }

    /// The most values of a response.
    private static let limit = 4
    /// The number of changes. One lock for all responses: contention is low.
    private static let changes = Protected(0)
    private var entries: [Entry] = []

    /// Returns the value that an equal decoder decoded, or nil.
    func find<Value>(_ type: Value.Type, by decoder: any ResponseDecoder) -> Value? {
        let found = Self.changes.withLock { _ in entries }.first {
            $0.type == ObjectIdentifier(type) && $0.decoder.isEquivalent(to: decoder)
        }
        // A cast of nil to an optional type would succeed.
        guard let found else { return nil }
        return found.value as? Value
    }

    /// Adds a value, above the limit in place of the oldest one. The type is `Sendable`.
    func add<Value>(_ value: Value, as type: Value.Type, by decoder: any ResponseDecoder) {
        let entry = Entry(type: ObjectIdentifier(type), decoder: decoder, value: value)
        replace { $0.suffix(Self.limit - 1) + [entry] }
    }

    func removeAll() { replace { _ in [] } }

    private func replace(_ change: ([Entry]) -> [Entry]) {
        // Releases the app's values outside of the lock.
        let old = Self.changes.withLock { changes in
            changes += 1
            let old = entries
            entries = change(old)
            return old
        }
        withExtendedLifetime(old) {}
    }
}

/// The stored responses with decoded values. Above the limit, the values that were decoded first are removed.
final class RecentDecodedValues: Sendable {
    private struct Owner: @unchecked Sendable {  // never changed
        weak var values: DecodedValues?
    }

    private static let limit = 256
    private let owners = Protected<[Owner]>([])

    func add(_ values: DecodedValues) {
        let dropped: [DecodedValues] = owners.withLock { owners in
            guard !owners.contains(where: { $0.values === values }) else { return [] }
            owners.append(Owner(values: values))
            guard owners.count > Self.limit else { return [] }
            owners.removeAll { $0.values == nil }
            let rest = owners.prefix(max(0, owners.count - Self.limit)).compactMap(\.values)
            owners.removeFirst(max(0, owners.count - Self.limit))
            return rest
        }
        for values in dropped { values.removeAll() }
    }
}

/// Decodes values of `Sendable` types, or returns those that an earlier call decoded from the same body.
private struct ReusingDecoder: ResponseDecoder {
    let decoder: any ResponseDecoder
    let values: DecodedValues
    let body: Data
    let recentValues: RecentDecodedValues

    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        // An interceptor before the cache may have changed the body.
        guard decoder.isEquivalent(to: decoder), data == body else { return try decoder.decode(type, from: data) }
        if let value = values.find(type, by: decoder) { return value }
        let value = try decoder.decode(type, from: data)
        values.add(value, as: type, by: decoder)
        recentValues.add(values)
        return value
    }
}

extension NetworkResponse {
    /// Sets a decoder that reuses the decoded values of a stored response.
    mutating func reuse(_ values: DecodedValues, of body: Data, _ recentValues: RecentDecodedValues) {
        request?[SharedDecoding.self] = {
            ReusingDecoder(decoder: $0, values: values, body: body, recentValues: recentValues)
        }
    }
}

extension ResponseDecoder {
    /// Returns whether both decoders decode equal values. False for an object, because its settings may change.
    func isEquivalent(to other: any ResponseDecoder) -> Bool {
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
    /// Returns whether both have equal settings. False with closures and formatters, which cannot be compared.
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
