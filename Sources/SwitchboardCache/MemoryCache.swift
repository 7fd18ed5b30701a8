import Switchboard

/// Stored responses in memory. When there are too many bytes, those that were not asked for longest are let go.
struct MemoryCache: Sendable {
    private struct Entry: Sendable {
        let response: StoredResponse
        let size: Int
        var use: Int
    }

    private let limit: Int
    private var entries: [CacheKey: Entry] = [:]
    private(set) var size = 0
    private var uses = 0

    /// - Parameter limit: In bytes.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    subscript(key: CacheKey) -> StoredResponse? {
        mutating get {
            guard let entry = entries[key] else { return nil }
            uses += 1
            entries[key]?.use = uses
            return entry.response
        }
    }

    /// False for one that is larger than the limit; then there is none of this key.
    @discardableResult
    mutating func insert(_ response: StoredResponse, _ key: CacheKey) -> Bool {
        remove(key)
        let size = response.size + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit else { return false }
        uses += 1
        entries[key] = Entry(response: response, size: size, use: uses)
        self.size += size
        // A tenth more than needed, so that the next one does not sort them all again.
        if self.size > limit { makeRoom(limit - limit / 10) }
        return true
    }

    mutating func remove(where isMeant: (_ url: String, _ partition: String) -> Bool) {
        for key in entries.keys where isMeant(key.url, key.partition) { remove(key) }
    }

    mutating func removeAll() {
        entries = [:]
        size = 0
    }

    mutating func remove(_ key: CacheKey) {
        if let entry = entries.removeValue(forKey: key) { size -= entry.size }
    }

    private mutating func makeRoom(_ goal: Int) {
        // All but the newest.
        for (key, _) in entries.sorted(by: { $0.value.use < $1.value.use }).dropLast() where size > goal {
            remove(key)
        }
    }
}

extension StoredResponse {
    /// The bytes that it is counted as: its body and fields, and something for itself.
    var size: Int {
        headers.reduce(body.count + variant.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
