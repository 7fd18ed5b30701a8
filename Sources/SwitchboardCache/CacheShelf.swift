import Foundation
import Switchboard

/// The stored responses of a cache: those in memory, and those on disk if it has a folder.
actor CacheShelf {
    private struct Load {
        let key: CacheKey
        /// Whether what it brings is out of date already.
        var isOvertaken = false
    }

    private var memory: MemoryCache
    private let disk: DiskCache?
    /// What is being loaded, in the order in which it was asked for.
    private var loads: [Int: Load] = [:]
    private var nextLoad = 0

    init(_ memory: MemoryCache, _ disk: sending DiskCache?) {
        self.memory = memory
        self.disk = disk
    }

    /// The response to such a request, however old.
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

    /// Begins a load. It is to be ended by ``end(_:)`` or ``store(_:at:)``.
    func begin(_ key: CacheKey) -> Int {
        nextLoad += 1
        loads[nextLoad] = Load(key: key)
        return nextLoad
    }

    /// Ends a load that brought nothing to store.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - isReplaced: Whether it brought an answer that takes the place of what is stored, and may not be stored.
    func end(_ load: Int, isReplaced: Bool = false) {
        guard let load = loads.removeValue(forKey: load), isReplaced, !load.isOvertaken else { return }
        memory.remove(load.key)
        disk?.remove(load.key)
    }

    /// Ends a load, and stores what it brought in place of the one before, unless that is newer, or something was removed
    /// for it since it was asked for.
    ///
    /// - Returns: Why it was not stored, or not on disk; nil when all is well.
    func store(_ response: StoredResponse, at number: Int) -> String? {
        guard let load = loads.removeValue(forKey: number), !load.isOvertaken else {
            return "not stored: a newer one was, or it was removed meanwhile"
        }
        for (other, entry) in loads where other < number && entry.key == load.key { loads[other]?.isOvertaken = true }
        let isKept = memory.insert(response, load.key)
        guard let disk else { return isKept ? nil : "not stored: it is larger than the cache" }
        return disk.write(response, load.key)
    }

    /// Removes those of which this is said: the URL as a ``CacheKey`` has it, and the partition.
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

    /// How many there are, and of how many bytes.
    var usage: (count: Int, memory: Int, disk: Int) {
        (disk?.count ?? memory.count, memory.size, disk?.size ?? 0)
    }
}

extension CacheShelf: CustomReflectable {
    /// Nothing: the keys are made of header fields, credentials among them.
    nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}
