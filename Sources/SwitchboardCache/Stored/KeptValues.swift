import SwitchboardPlatform

/// The stored responses whose decoded values a cache keeps. Beyond the limit, it drops the values that were decoded
/// first.
final class KeptValues: Sendable {
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
