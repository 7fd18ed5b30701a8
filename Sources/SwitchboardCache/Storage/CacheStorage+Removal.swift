import SwitchboardPlatform
import Switchboard

extension CacheStorage {
    /// Returns whether a removal includes a response. It receives the URL as in a ``CacheKey``, the partition and the
    /// tags.
    typealias Removal = @Sendable (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool

    /// Removes the responses for which the closure returns true. It reads the heads of all files.
    func remove(where isMeant: @escaping Removal) async {
        let number = begin(isMeant)
        defer { removals[number] = nil }
        removeFromMemory(isMeant)
        guard let disk else { return }
        var names = disk.names[...]
        while !names.isEmpty {
            disk.remove(names.prefix(100), where: isMeant)
            names = names.dropFirst(100)
            if !names.isEmpty { await Task.yield() }
        }
        // A file may have answered in between.
        removeFromMemory(isMeant)
    }

    /// Begins a removal. It supersedes the loads of the responses that it includes: those in flight, and those that
    /// begin before it ends.
    func begin(_ isMeant: @escaping Removal) -> Int {
        for (number, load) in loads where isMeant(load.key.url, load.key.partition, load.tags) {
            loads[number]?.isSuperseded = true
        }
        let number = (removals.keys.max() ?? 0) + 1
        removals[number] = isMeant
        return number
    }

    /// Returns whether a removal that has not ended includes a response.
    func isBeingRemoved(_ key: CacheKey, _ tags: Set<String>) -> Bool {
        removals.values.contains { $0(key.url, key.partition, tags) }
    }

    private func removeFromMemory(_ isMeant: Removal) {
        held.withLock { held in
            held.removals += 1
            held.memory.remove { key, _, response in isMeant(key.url, key.partition, response.tags) }
        }
    }

    /// Removes the responses of a URL, as in a ``CacheKey``.
    func remove(url: String) {
        let mark = CacheChecksum.of(url)
        remove { $0.url == mark }
    }

    /// Removes the responses of URLs in a partition, whatever their query. Their loads in flight store nothing, except
    /// the spared one.
    func remove(places: [String], _ partition: String, sparing load: Int?) {
        let marks = Set(places.map(CacheMarks.place))
        let owner = CacheChecksum.of(partition)
        remove(sparing: load) { $0.partition == owner && marks.contains($0.place) }
    }

    private func remove(sparing spared: Int? = nil, where isMeant: (CacheMarks) -> Bool) {
        for (number, load) in loads where number != spared && isMeant(CacheMarks(load.key)) {
            loads[number]?.isSuperseded = true
        }
        remove {
            $0.remove(where: isMeant)
        } fromMemory: {
            $0.remove { _, marks, _ in isMeant(marks) }
        }
    }

    /// Removes the stored response that matches a request, if it is of the version of a refused answer.
    func remove(_ key: CacheKey, _ request: NetworkRequest, refused: NetworkResponse) {
        guard let found = findOnDisk(key, request), found.isVersion(of: refused) else { return }
        removeMatching(key, request)
    }

    /// Removes the stored responses that match a request.
    func removeMatching(_ key: CacheKey, _ request: NetworkRequest) {
        remove {
            $0.remove(key, request)
        } fromMemory: {
            $0.remove(key) { $0.isFor(request) }
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

    /// Removes responses from memory, from disk, and again from memory, where a file may have answered in between.
    func remove(fromDisk: (DiskCache) -> Void, fromMemory: (inout MemoryCache) -> Void) {
        func removeFromMemory() {
            held.withLock { held in
                held.removals += 1
                fromMemory(&held.memory)
            }
        }
        removeFromMemory()
        guard let disk else { return }
        fromDisk(disk)
        removeFromMemory()
    }
}
