import SwitchboardPlatform
import Switchboard
import SwitchboardText

/// Stores responses in memory. Above a limit, it evicts the least recently used ones. An operation on a key takes
/// constant time.
struct MemoryCache: Sendable {
    private final class Content: Sendable {
        let key: CacheKey
        let keyHash: CacheKeyHash
        let response: StoredResponse
        /// The name of the file, if the response is on disk too.
        let file: CacheFileName?
        let size: Int

        init(_ key: CacheKey, _ response: StoredResponse, _ file: CacheFileName?, _ size: Int) {
            (self.key, self.keyHash, self.response) = (key, file?.keyHash ?? CacheKeyHash(key), response)
            (self.file, self.size) = (file, size)
        }
    }

    private struct Entry: Sendable {
        let content: Content
        /// The time of the last use, in nanoseconds.
        var use: Int64
        /// Whether ``takeUses()`` returned that use.
        var isTaken = false
        /// The folder's change time when the file was last known to exist.
        var checkedChange: Int64
        /// The indices of the neighbors in the order of use, and of the next variant of the key.
        var older: Int?
        var newer: Int?
        var sibling: Int?
    }

    let limit: Int
    private let countLimit: Int
    /// The entries. A removed one leaves nil.
    private var entries: [Entry?] = []
    private var freeIndices: [Int] = []
    /// The index of the first variant of each key.
    private var first: [CacheKey: Int] = [:]
    private var oldest: Int?
    private var newest: Int?
    private(set) var size = 0
    /// The number of responses that were removed to make room.
    private(set) var evictions = 0
    /// The uses of files whose responses are not in memory.
    private var evictedUses: [(file: CacheFileName, use: Int64)] = []
    /// The time of the folder's last known change, and the time when that was read.
    private var folderChange: Int64 = 0
    private var lastFolderCheck: Int64 = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The largest total size, in bytes.
    ///   - countLimit: The largest number of responses.
    init(limit: Int, countLimit: Int = 20_000) {
        self.limit = limit
        self.countLimit = countLimit
    }

    var count: Int { entries.count - freeIndices.count }

    private func indices(of key: CacheKey) -> [Int] {
        var indices: [Int] = []
        var next = first[key]
        while let index = next {
            indices.append(index)
            next = entries[index]?.sibling
        }
        return indices
    }

    /// Returns all variants of a key, the most recently used ones first.
    func variants(of key: CacheKey) -> [StoredResponse] {
        indices(of: key).compactMap { entries[$0] }.sorted { $0.use > $1.use }.map(\.content.response)
    }

    private func index(_ key: CacheKey, _ request: NetworkRequest) -> Int? {
        var found: Int?
        var next = first[key]
        while let index = next, let entry = entries[index] {
            next = entry.sibling
            guard entry.content.response.matches(request) else { continue }
            if let found, let other = entries[found],
                other.content.response.rules.dateValue > entry.content.response.rules.dateValue
            {
                continue
            }
            found = index
        }
        return found
    }

    /// Returns the most recent response that matches a request, and counts it as used. Also returns its file, and
    /// whether another cache may have removed the file since the last call.
    mutating func find(_ key: CacheKey, _ request: NetworkRequest)
        -> (response: StoredResponse, file: CacheFileName?, needsFileCheck: Bool)?
    {
        guard let index = index(key, request), let entry = entries[index] else { return nil }
        if newest != index {
            unlink(index)
            link(index)
        }
        entries[index]?.use = CacheTime.now
        entries[index]?.isTaken = false
        entries[index]?.checkedChange = folderChange
        return (entry.content.response, entry.content.file, entry.checkedChange != folderChange)
    }

    // MARK: Removals by other caches

    /// Returns whether a hit checks the folder first: once a second.
    mutating func isFolderCheckDue(at time: Int64) -> Bool {
        guard !(lastFolderCheck..<(lastFolderCheck + CacheTime.second)).contains(time) else { return false }
        lastFolderCheck = time
        return true
    }

    /// Sets the time of the folder's last change. If it differs, any file may be gone.
    mutating func setFolderChange(to change: Int64) { folderChange = change }

    /// Removes the response whose file another cache removed.
    mutating func remove(_ key: CacheKey, file: CacheFileName) {
        for index in indices(of: key) where entries[index]?.content.file == file { remove(index) }
    }

    // MARK: Storing

    /// Returns the most recent response that matches a request, without counting it as used.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        index(key, request).flatMap { entries[$0]?.content.response }
    }

    /// Stores a response. The caller has removed the variants that it replaces. Returns false, and stores nothing, for
    /// a response that is larger than the limit.
    @discardableResult
    mutating func insert(
        _ response: StoredResponse, _ key: CacheKey, _ file: CacheFileName? = nil, at time: Int64 = CacheTime.now
    ) -> Bool {
        remove(key) { $0.variant.hasBytes(of: response.variant) }
        let size = response.size + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit, countLimit > 0 else { return false }
        let content = Content(key, response, file, size)
        let entry = Entry(content: content, use: time, checkedChange: folderChange, sibling: first[key])
        let index = freeIndices.popLast() ?? entries.count
        if index == entries.count { entries.append(entry) } else { entries[index] = entry }
        first[key] = index
        link(index)
        self.size += size
        let variants = indices(of: key)
        if variants.count > CacheVariant.limit,
            let last = variants.min(by: { (entries[$0]?.use ?? 0) < (entries[$1]?.use ?? 0) })
        {
            evict(last)
        }
        while self.size > limit || count > countLimit, let oldest { evict(oldest) }
        return true
    }

    /// Stores a response that was read from a file, unless its body stays in the file. Records the use of the file.
    mutating func insertRead(
        _ response: StoredResponse, _ key: CacheKey, _ file: CacheFileName, at time: Int64 = CacheTime.now
    ) {
        guard response.file != nil || !insert(response, key, file, at: time) else { return }
        recordEvicted(file, time)
    }

    private mutating func recordEvicted(_ file: CacheFileName, _ use: Int64) {
        evictedUses.append((file, use))
        // Without a commit or a scan, the uses are never taken.
        if evictedUses.count > 4_096 { evictedUses.removeFirst(2_048) }
    }

    /// Returns the files whose responses were used since the last call, with the time of the last use.
    mutating func takeUses() -> [(file: CacheFileName, use: Int64)] {
        var uses = evictedUses
        evictedUses = []
        var next = newest
        while let index = next, let entry = entries[index], !entry.isTaken {
            if let file = entry.content.file { uses.append((file, entry.use)) }
            entries[index]?.isTaken = true
            next = entry.older
        }
        return uses
    }

    /// Removes the responses for which the closure returns true.
    mutating func remove(where predicate: (CacheKey, CacheKeyHash, StoredResponse) -> Bool) {
        for index in entries.indices {
            if let entry = entries[index], predicate(entry.content.key, entry.content.keyHash, entry.content.response) {
                remove(index)
            }
        }
    }

    /// Removes the variants of a key for which the closure returns true.
    mutating func remove(_ key: CacheKey, where predicate: (StoredResponse) -> Bool) {
        for index in indices(of: key) {
            if let entry = entries[index], predicate(entry.content.response) { remove(index) }
        }
    }

    mutating func removeAll() {
        (entries, freeIndices, first, evictedUses) = ([], [], [:], [])
        (oldest, newest, size) = (nil, nil, 0)
    }

    private mutating func evict(_ index: Int) {
        if let entry = entries[index], let file = entry.content.file, !entry.isTaken {
            recordEvicted(file, entry.use)
        }
        evictions += 1
        remove(index)
    }

    private mutating func remove(_ index: Int) {
        guard let entry = entries[index] else { return }
        unlink(index)
        if first[entry.content.key] == index {
            first[entry.content.key] = entry.sibling
        } else if let before = indices(of: entry.content.key).first(where: { entries[$0]?.sibling == index }) {
            entries[before]?.sibling = entry.sibling
        }
        entries[index] = nil
        freeIndices.append(index)
        size -= entry.content.size
    }

    // MARK: The order of use

    private mutating func link(_ index: Int) {
        entries[index]?.older = newest
        entries[index]?.newer = nil
        if let newest { entries[newest]?.newer = index }
        newest = index
        if oldest == nil { oldest = index }
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (entries[index]?.older, entries[index]?.newer)
        if let older { entries[older]?.newer = newer } else { oldest = newer }
        if let newer { entries[newer]?.older = older } else { newest = older }
    }
}

extension StoredResponse {
    /// The bytes that the response counts as: body, fields and a fixed overhead.
    var size: Int {
        headers.reduce(body.count + variant.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
