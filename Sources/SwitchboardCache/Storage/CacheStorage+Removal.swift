import SwitchboardPlatform
import Switchboard

extension CacheStorage {
    /// Returns whether a removal includes the response with this URL, as in a ``CacheKey``, this partition and these
    /// tags.
    typealias Removal = @Sendable (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool

    /// Removes the responses for which the closure returns true. First reads the heads of the files that the index does
    /// not describe, in steps, so that other requests need not wait for all of them.
    func remove(where isRemoved: Removal) async {
        func isRemovedLoad(_ load: Load) -> Bool { isRemoved(load.key.url, load.key.partition, load.tags) }
        // A load in flight could replace the response that it found by one without its tags.
        supersedeLoads(where: isRemovedLoad)
        var names = disk?.names[...] ?? []
        while !names.isEmpty {
            for name in names.prefix(100) { _ = disk?.summary(of: name) }
            names = names.dropFirst(100)
            if !names.isEmpty { await Task.yield() }
        }
        // A load that began meanwhile may have found a response that is removed now.
        supersedeLoads(where: isRemovedLoad)
        remove {
            $0.remove(where: isRemoved)
        } fromMemory: {
            $0.remove { key, _, response in isRemoved(key.url, key.partition, response.tags) }
        }
    }

    /// Removes the responses of a URL, as in a ``CacheKey``.
    func remove(url: String) {
        let hash = CacheChecksum.of(url)
        remove { $0.url == hash }
    }

    /// Removes the responses of URLs in a partition, with any query. Their loads in flight store nothing, except one.
    func remove(urls: [String], _ partition: String, except load: Int?) {
        let hashes = Set(urls.map(CacheKeyHash.ofURLWithoutQuery))
        let partitionHash = CacheChecksum.of(partition)
        remove(except: load) { $0.partition == partitionHash && hashes.contains($0.urlWithoutQuery) }
    }

    private func remove(except excluded: Int? = nil, where isRemoved: (CacheKeyHash) -> Bool) {
        supersedeLoads(except: excluded) { isRemoved(CacheKeyHash($0.key)) }
        remove {
            $0.remove(where: isRemoved)
        } fromMemory: {
            $0.remove { _, keyHash, _ in isRemoved(keyHash) }
        }
    }

    private func supersedeLoads(except excluded: Int? = nil, where isRemoved: (Load) -> Bool) {
        for (number, load) in loads where number != excluded && isRemoved(load) { loads[number]?.isSuperseded = true }
    }

    /// Removes the stored response that matches a request, if it has the validators of a refused answer.
    func remove(_ key: CacheKey, _ request: NetworkRequest, refused: NetworkResponse) {
        guard let found = findInMemoryOrOnDisk(key, request), found.isVersion(of: refused) else { return }
        removeMatching(key, request)
    }

    /// Removes the stored responses that match a request.
    func removeMatching(_ key: CacheKey, _ request: NetworkRequest) {
        remove {
            $0.remove(key, request)
        } fromMemory: {
            $0.remove(key) { $0.matches(request) }
        }
    }

    func removeAll() {
        supersedeLoads { _ in true }
        remove {
            $0.removeAll()
        } fromMemory: {
            $0.removeAll()
        }
    }

    /// Removes responses from memory, from disk, and again from memory: a read from disk may have added them in
    /// between.
    func remove(fromDisk: (DiskCache) -> Void, fromMemory: (inout MemoryCache) -> Void) {
        func removeFromMemory() {
            state.withLock { state in
                state.removals += 1
                fromMemory(&state.memory)
            }
        }
        removeFromMemory()
        guard let disk else { return }
        fromDisk(disk)
        removeFromMemory()
    }
}
