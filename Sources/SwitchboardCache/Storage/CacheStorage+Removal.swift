import SwitchboardPlatform
import Switchboard

extension CacheStorage {
    /// Returns whether a removal includes the response with this URL, as in a ``CacheKey``, this partition and these
    /// tags.
    typealias Removal = @Sendable (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool

    /// Removes the responses for which the closure returns true. Reads the heads of the files that the index does
    /// not describe.
    func remove(where predicate: @escaping Removal) async {
        let number = begin(predicate)
        defer { activeRemovals[number] = nil }
        removeFromMemory(predicate)
        guard let disk else { return }
        var names = disk.names[...]
        while !names.isEmpty {
            disk.remove(names.prefix(100), where: predicate)
            names = names.dropFirst(100)
            if !names.isEmpty { await Task.yield() }
        }
        // A read from disk may have added responses to memory in between.
        removeFromMemory(predicate)
    }

    /// Begins a removal. The removal supersedes the loads of the responses that it includes: loads in flight, and loads
    /// that begin before the removal ends.
    func begin(_ predicate: @escaping Removal) -> Int {
        for (number, load) in loads where predicate(load.key.url, load.key.partition, load.tags) {
            loads[number]?.isSuperseded = true
        }
        let number = (activeRemovals.keys.max() ?? 0) + 1
        activeRemovals[number] = predicate
        return number
    }

    /// Returns whether a removal that has not ended includes a response.
    func isBeingRemoved(_ key: CacheKey, _ tags: Set<String>) -> Bool {
        activeRemovals.values.contains { $0(key.url, key.partition, tags) }
    }

    private func removeFromMemory(_ predicate: Removal) {
        state.withLock { state in
            state.removals += 1
            state.memory.remove { key, _, response in predicate(key.url, key.partition, response.tags) }
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

    private func remove(except excluded: Int? = nil, where predicate: (CacheKeyHash) -> Bool) {
        for (number, load) in loads where number != excluded && predicate(load.keyHash) {
            loads[number]?.isSuperseded = true
        }
        remove {
            $0.remove(where: predicate)
        } fromMemory: {
            $0.remove { _, keyHash, _ in predicate(keyHash) }
        }
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
        for number in loads.keys { loads[number]?.isSuperseded = true }
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
