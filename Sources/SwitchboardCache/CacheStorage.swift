import Foundation
import Switchboard

/// The storage of a cache: responses in memory, and on disk if the cache has a folder. It also tracks loads in flight.
actor CacheStorage {
    private struct Load {
        let key: CacheKey
        let request: NetworkRequest
        /// Whether a newer response or a removal superseded this load.
        var isOvertaken = false
    }

    private var memory: MemoryCache
    private let disk: DiskCache?
    /// The loads in flight, numbered in the order in which they began.
    private var loads: [Int: Load] = [:]
    private var nextLoad = 0

    init(_ memory: MemoryCache, _ disk: sending DiskCache?) {
        self.memory = memory
        self.disk = disk
    }

    /// Returns the most recent stored response that matches a request, whatever its age.
    func find(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        let found = memory.find(key, request)
        guard let disk else { return found }
        if let newer = disk.find(key, request, madeAfter: found?.rules.made) {
            memory.insert(newer, key)
            return newer
        }
        if let found { disk.noteUse(of: key, found.variant) }
        return found
    }

    /// Returns whether any variant of a key is stored.
    func holds(_ key: CacheKey) -> Bool {
        !memory.variants(of: key).isEmpty || disk?.holds(key) ?? false
    }

    /// Returns the entity tags of all variants, without repetitions.
    func tags(of key: CacheKey) -> [String] {
        var tags: [String] = []
        for tag in memory.variants(of: key).compactMap(\.tag) + (disk?.tags(of: key) ?? []) where !tags.contains(tag) {
            tags.append(tag)
        }
        return tags
    }

    /// Returns the variant with an entity tag.
    func find(_ key: CacheKey, tag: String) -> StoredResponse? {
        memory.variants(of: key).first { $0.has(tag) } ?? disk?.find(key, tag: tag)
    }

    /// Begins a load. The caller ends it with ``end(_:isReplaced:)`` or ``store(_:at:)``.
    func begin(_ key: CacheKey, _ request: NetworkRequest) -> Int {
        nextLoad += 1
        loads[nextLoad] = Load(key: key, request: request)
        return nextLoad
    }

    /// Ends a load without storing a response.
    ///
    /// - Parameters:
    ///   - load: The load's number.
    ///   - isReplaced: True when the load produced an answer that invalidates the stored response but must not be
    ///     stored.
    func end(_ load: Int, isReplaced: Bool = false) {
        guard let load = loads.removeValue(forKey: load), isReplaced, !load.isOvertaken else { return }
        removeMatching(load)
    }

    /// Ends a load and stores its response in place of those that match its request, unless a newer load or a removal
    /// superseded it.
    ///
    /// - Returns: The reason why the response was not stored, or not on disk. Nil on success.
    func store(_ response: StoredResponse, at number: Int) -> String? {
        guard let load = loads.removeValue(forKey: number), !load.isOvertaken else {
            return "not stored: a newer one was, or it was removed meanwhile"
        }
        for (other, entry) in loads where other < number && entry.key == load.key && response.isFor(entry.request) {
            loads[other]?.isOvertaken = true
        }
        removeMatching(load)
        let isKept = memory.insert(response, load.key)
        guard let disk else { return isKept ? nil : "not stored: it is larger than the cache" }
        return disk.write(response, load.key)
    }

    /// Updates the variants that have a strong entity tag and the same `Vary` as a confirmed response, except that
    /// response itself.
    func update(_ key: CacheKey, like confirmed: StoredResponse, _ change: (StoredResponse) -> StoredResponse) {
        guard let tag = confirmed.tag, tag.hasPrefix("\"") else { return }
        let held = memory.variants(of: key)
        let others = disk?.all(key, tag: tag).filter { other in !held.contains(where: other.isSameVariant) } ?? []
        for found in held + others
        where found.tag == tag && !found.isSameVariant(as: confirmed) {
            let changed = change(found)
            guard CacheVariant.names(changed.headers) == CacheVariant.names(found.headers) else { continue }
            memory.insert(changed, key)
            _ = disk?.write(changed, key)
        }
    }

    private func removeMatching(_ load: Load) {
        memory.remove(load.key) { $0.isFor(load.request) }
        disk?.remove(load.key, load.request)
    }

    /// Removes the responses for which the closure returns true. It receives the URL as in a ``CacheKey``, the
    /// partition and the tags. Loads in flight that it describes store nothing, except the spared one.
    func remove(
        sparing spared: Int? = nil,
        where isMeant: @Sendable (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool
    ) {
        for (number, load) in loads
        where number != spared && isMeant(load.key.url, load.key.partition, load.request.options.cacheTags) {
            loads[number]?.isOvertaken = true
        }
        memory.remove { isMeant($0.url, $0.partition, $1.tags) }
        disk?.remove(where: isMeant)
    }

    func removeAll() {
        for number in loads.keys { loads[number]?.isOvertaken = true }
        memory.removeAll()
        disk?.removeAll()
    }

    /// The number of stored responses, and the bytes they use in memory and on disk.
    var usage: (count: Int, memory: Int, disk: Int) {
        (disk?.count ?? memory.count, memory.size, disk?.size ?? 0)
    }
}

extension CacheStorage: CustomReflectable {
    /// An empty mirror: the keys contain header fields, credentials among them.
    nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}
