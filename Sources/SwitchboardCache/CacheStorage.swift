import Foundation
import Switchboard

/// The storage of a cache: responses in memory, and on disk if the cache has a folder. It also tracks loads in flight.
actor CacheStorage {
    private struct Load {
        let key: CacheKey
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

    /// Returns the stored response that matches a request, whatever its age.
    func find(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        if let found = memory[key] {
            guard found.isFor(request) else { return nil }
            disk?.noteUse(of: key)
            return found
        }
        guard let found = disk?.read(key), found.isFor(request) else { return nil }
        memory.insert(found, key)
        return found
    }

    /// Begins a load. The caller ends it with ``end(_:isReplaced:)`` or ``store(_:at:)``.
    func begin(_ key: CacheKey) -> Int {
        nextLoad += 1
        loads[nextLoad] = Load(key: key)
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
        memory.remove(load.key)
        disk?.remove(load.key)
    }

    /// Ends a load and stores its response in place of the previous one, unless a newer load or a removal superseded
    /// it.
    ///
    /// - Returns: The reason why the response was not stored, or not on disk. Nil on success.
    func store(_ response: StoredResponse, at number: Int) -> String? {
        guard let load = loads.removeValue(forKey: number), !load.isOvertaken else {
            return "not stored: a newer one was, or it was removed meanwhile"
        }
        for (other, entry) in loads where other < number && entry.key == load.key { loads[other]?.isOvertaken = true }
        let isKept = memory.insert(response, load.key)
        guard let disk else { return isKept ? nil : "not stored: it is larger than the cache" }
        return disk.write(response, load.key)
    }

    /// Removes the responses for which the closure returns true. It receives the URL as in a ``CacheKey``, and the
    /// partition.
    func remove(where isMeant: @Sendable (_ url: String, _ partition: String) -> Bool) {
        for (number, load) in loads where isMeant(load.key.url, load.key.partition) {
            loads[number]?.isOvertaken = true
        }
        memory.remove(where: isMeant)
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
