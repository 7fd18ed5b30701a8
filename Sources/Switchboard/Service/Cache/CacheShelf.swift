import Foundation

/// The stored responses of a cache: those in memory, and those on disk if it has a folder.
actor CacheShelf {
    private var memory: MemoryCache
    private let disk: DiskCache?
    /// Goes up with each removal: what was asked for before is not stored after it.
    private(set) var epoch = 0

    init(_ memory: MemoryCache, _ disk: sending DiskCache?) {
        self.memory = memory
        self.disk = disk
    }

    /// The response to such a request, however old, with the epoch that a new one belongs to.
    func find(_ key: CacheKey, _ request: NetworkRequest) -> (StoredResponse?, epoch: Int) {
        var found = memory[key]
        if found == nil, let stored = disk?.read(key) {
            found = stored
            memory.insert(stored, key)
        }
        return (found.flatMap { $0.isFor(request) ? $0 : nil }, epoch)
    }

    /// Stores a response in place of the one before, unless something was removed since it was asked for.
    ///
    /// - Returns: Why it was not stored, or not on disk; nil when all is well.
    func store(_ response: StoredResponse, _ key: CacheKey, epoch: Int) -> String? {
        guard epoch == self.epoch else { return "not stored: something was removed meanwhile" }
        let isKept = memory.insert(response, key)
        guard let disk else { return isKept ? nil : "not stored: it is larger than the cache" }
        return disk.write(response, key)
    }

    /// Removes those of which this is said: the URL, without fragment, and the partition.
    func remove(where isMeant: @Sendable (_ url: String, _ partition: String) -> Bool) {
        epoch += 1
        memory.remove(where: isMeant)
        disk?.remove(where: isMeant)
    }

    func removeAll() {
        epoch += 1
        memory.removeAll()
        disk?.removeAll()
    }

    /// How many there are, and of how many bytes.
    var usage: (count: Int, memory: Int, disk: Int) {
        (disk?.count ?? memory.count, memory.size, disk?.size ?? 0)
    }
}
