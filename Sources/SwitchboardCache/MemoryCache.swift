import Switchboard

/// Stores responses in memory. Above the limit, it evicts the least recently used ones.
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

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The largest total size, in bytes.
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

    /// Stores a response in place of the previous one of this key. Returns false, and stores nothing, for a response
    /// that is larger than the limit; the previous one is removed anyway.
    @discardableResult
    mutating func insert(_ response: StoredResponse, _ key: CacheKey) -> Bool {
        remove(key)
        let size = response.size + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit else { return false }
        uses += 1
        entries[key] = Entry(response: response, size: size, use: uses)
        self.size += size
        // Frees a tenth more than needed, so that the next insertion does not sort all entries again.
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
        // Keeps the newest entry.
        for (key, _) in entries.sorted(by: { $0.value.use < $1.value.use }).dropLast() where size > goal {
            remove(key)
        }
    }
}

extension StoredResponse {
    /// The bytes that the response counts for: body, fields and a fixed overhead.
    var size: Int {
        headers.reduce(body.count + variant.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
