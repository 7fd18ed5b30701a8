import Switchboard
import SwitchboardText

/// Stores responses in memory. Above the limit, it evicts the least recently used ones.
struct MemoryCache: Sendable {
    private struct Entry: Sendable {
        let response: StoredResponse
        let size: Int
        var use: Int
    }

    private let limit: Int
    /// The variants of each key.
    private var entries: [CacheKey: [Entry]] = [:]
    private(set) var count = 0
    private(set) var size = 0
    private var uses = 0
    /// The number of responses that were removed to make room.
    private(set) var evictions = 0

    /// Creates an empty cache.
    ///
    /// - Parameter limit: The largest total size, in bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// Returns all variants of a key.
    func variants(of key: CacheKey) -> [StoredResponse] { entries[key]?.map(\.response) ?? [] }

    /// Returns the most recent response that matches a request. It does not count as used.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        variants(of: key).filter { $0.isFor(request) }.reduce(nil) { newest, next in
            newest.map { $0.rules.made > next.rules.made } ?? false ? newest : next
        }
    }

    /// Returns the most recent response that matches a request, and counts it as used.
    mutating func find(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        guard let variants = entries[key] else { return nil }
        var newest: Int?
        for index in variants.indices where variants[index].response.isFor(request) {
            if let newest, variants[newest].response.rules.made > variants[index].response.rules.made { continue }
            newest = index
        }
        guard let index = newest else { return nil }
        uses += 1
        entries[key]?[index].use = uses
        return variants[index].response
    }

    /// Stores a response. The caller has removed the variants that it replaces. Returns false, and stores nothing, for
    /// a response that is larger than the limit.
    @discardableResult
    mutating func insert(_ response: StoredResponse, _ key: CacheKey) -> Bool {
        remove(key) { $0.variant.hasBytes(of: response.variant) }
        let size = response.size + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit else { return false }
        uses += 1
        entries[key, default: []].append(Entry(response: response, size: size, use: uses))
        self.size += size
        count += 1
        if let variants = entries[key], variants.count > CacheVariant.limit,
            let oldest = variants.min(by: { $0.use < $1.use })
        {
            remove(key) { $0.variant.hasBytes(of: oldest.response.variant) }
            evictions += 1
        }
        // Frees a tenth more than needed, so that the next insertion does not sort all entries again.
        if self.size > limit { makeRoom(limit - limit / 10) }
        return true
    }

    mutating func remove(where isMeant: (CacheKey, StoredResponse) -> Bool) {
        for key in entries.keys { remove(key) { isMeant(key, $0) } }
    }

    mutating func removeAll() {
        entries = [:]
        (size, count) = (0, 0)
    }

    /// Removes the variants of a key for which the closure returns true.
    mutating func remove(_ key: CacheKey, where isMeant: (StoredResponse) -> Bool) {
        guard let variants = entries[key] else { return }
        let kept = variants.filter { !isMeant($0.response) }
        guard kept.count < variants.count else { return }
        size -= variants.reduce(0) { $0 + $1.size } - kept.reduce(0) { $0 + $1.size }
        count -= variants.count - kept.count
        entries[key] = kept.isEmpty ? nil : kept
    }

    private mutating func makeRoom(_ goal: Int) {
        let byUse = entries.flatMap { key, variants in variants.map { (key: key, entry: $0) } }
            .sorted { $0.entry.use < $1.entry.use }
        // Keeps the newest entry.
        for (key, entry) in byUse.dropLast() where size > goal {
            remove(key) { $0.variant.hasBytes(of: entry.response.variant) }
            evictions += 1
        }
    }
}

extension StoredResponse {
    /// The bytes that the response counts for: body, fields and a fixed overhead.
    var size: Int {
        headers.reduce(body.count + variant.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
