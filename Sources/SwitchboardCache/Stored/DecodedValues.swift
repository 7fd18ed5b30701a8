import Foundation
import Switchboard
import SwitchboardPlatform

/// The values that calls decoded from the body of a stored response. They live as long as the response.
final class DecodedValues: @unchecked Sendable {  // ``changes`` guards the entries
    private struct Entry: @unchecked Sendable {  // only calls for a `Sendable` value decode it
        let type: ObjectIdentifier
        let decoder: any ResponseDecoder
        let value: Any
    }

    /// The most values of a response.
    private static let limit = 4
    /// The number of changes. Its lock guards the entries of all responses, because few calls want them.
    private static let changes = Protected(0)
    private var entries: [Entry] = []

    /// Returns the value that an equal decoder decoded, or nil.
    func find<Value>(_ type: Value.Type, by decoder: any ResponseDecoder) -> Value? {
        let found = Self.changes.withLock { _ in entries }.first {
            $0.type == ObjectIdentifier(type) && $0.decoder.decodes(like: decoder)
        }
        // A cast of nil to an optional type would succeed.
        guard let found else { return nil }
        return found.value as? Value
    }

    /// Keeps a value in place of the oldest one. The type is `Sendable`.
    func keep<Value>(_ value: Value, as type: Value.Type, by decoder: any ResponseDecoder) {
        let entry = Entry(type: ObjectIdentifier(type), decoder: decoder, value: value)
        replace { $0.suffix(Self.limit - 1) + [entry] }
    }

    func removeAll() { replace { _ in [] } }

    private func replace(_ change: ([Entry]) -> [Entry]) {
        // The app's values end outside of the lock.
        let old = Self.changes.withLock { changes in
            changes += 1
            let old = entries
            entries = change(old)
            return old
        }
        withExtendedLifetime(old) {}
    }
}
