import SwitchboardPlatform
import Switchboard
import SwitchboardText

/// Stores responses in memory. Above a limit, it evicts the least recently used ones. Each operation on a key takes
/// the same time, however many responses are stored.
struct MemoryCache: Sendable {
    private final class Content: Sendable {
        let key: CacheKey
        let marks: CacheMarks
        let response: StoredResponse
        /// The name of the file, if the response is on disk too.
        let file: CacheFileName?
        let size: Int

        init(_ key: CacheKey, _ response: StoredResponse, _ file: CacheFileName?, _ size: Int) {
            (self.key, self.marks, self.response) = (key, file?.marks ?? CacheMarks(key), response)
            (self.file, self.size) = (file, size)
        }
    }

    private struct Entry: Sendable {
        let content: Content
        /// The time of the last use, in nanoseconds.
        var use: Int64
        /// Whether ``takeUses()`` returned that use.
        var isTaken = false
        /// The time of the folder's change after which the file was there.
        var seen: Int64
        /// The places of the neighbors in the order of use, and of the next variant of the key.
        var older: Int?
        var newer: Int?
        var sibling: Int?
    }

    let limit: Int
    private let countLimit: Int
    /// The entries. A removed one leaves a free place.
    private var entries: [Entry?] = []
    private var free: [Int] = []
    /// The place of the first variant of each key.
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
    private var lookTime: Int64 = 0

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - limit: The largest total size, in bytes.
    ///   - countLimit: The largest number of responses.
    init(limit: Int, countLimit: Int = 20_000) {
        self.limit = limit
        self.countLimit = countLimit
    }

    var count: Int { entries.count - free.count }

    private func places(of key: CacheKey) -> [Int] {
        var places: [Int] = []
        var next = first[key]
        while let place = next {
            places.append(place)
            next = entries[place]?.sibling
        }
        return places
    }

    /// Returns all variants of a key, the most recently used ones first.
    func variants(of key: CacheKey) -> [StoredResponse] {
        places(of: key).compactMap { entries[$0] }.sorted { $0.use > $1.use }.map(\.content.response)
    }

    private func place(_ key: CacheKey, _ request: NetworkRequest) -> Int? {
        var found: Int?
        var next = first[key]
        while let place = next, let entry = entries[place] {
            next = entry.sibling
            guard entry.content.response.isFor(request) else { continue }
            if let found, let other = entries[found],
                other.content.response.rules.made > entry.content.response.rules.made
            {
                continue
            }
            found = place
        }
        return found
    }

    /// Returns the most recent response that matches a request, and counts it as used. Also returns its file, and whether
    /// another cache may have removed that since the last call.
    mutating func find(_ key: CacheKey, _ request: NetworkRequest)
        -> (response: StoredResponse, file: CacheFileName?, isUnseen: Bool)?
    {
        guard let place = place(key, request), let entry = entries[place] else { return nil }
        if newest != place {
            unlink(place)
            link(place)
        }
        entries[place]?.use = CacheTime.now
        entries[place]?.isTaken = false
        entries[place]?.seen = folderChange
        return (entry.content.response, entry.content.file, entry.seen != folderChange)
    }

    // MARK: Removals by other caches

    /// Returns whether the folder is to be looked at before a hit: once a second.
    mutating func isLookDue(at time: Int64) -> Bool {
        guard !(lookTime..<(lookTime + CacheTime.second)).contains(time) else { return false }
        lookTime = time
        return true
    }

    /// Notes the time of the folder's last change. If it is another one, any file may be gone.
    mutating func noteFolder(changed: Int64) { folderChange = changed }

    /// Removes the response whose file another cache removed.
    mutating func remove(_ key: CacheKey, file: CacheFileName) {
        for place in places(of: key) where entries[place]?.content.file == file { remove(place) }
    }

    // MARK: Storing

    /// Returns the most recent response that matches a request, without counting it as used.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        place(key, request).flatMap { entries[$0]?.content.response }
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
        let entry = Entry(content: content, use: time, seen: folderChange, sibling: first[key])
        let place = free.popLast() ?? entries.count
        if place == entries.count { entries.append(entry) } else { entries[place] = entry }
        first[key] = place
        link(place)
        self.size += size
        let variants = places(of: key)
        if variants.count > CacheVariant.limit,
            let last = variants.min(by: { (entries[$0]?.use ?? 0) < (entries[$1]?.use ?? 0) })
        {
            evict(last)
        }
        while self.size > limit || count > countLimit, let oldest { evict(oldest) }
        return true
    }

    /// Stores a response that was read from a file, unless its body is in the file. Notes the use of the file.
    mutating func note(
        _ response: StoredResponse, _ key: CacheKey, _ file: CacheFileName, at time: Int64 = CacheTime.now
    ) {
        guard response.file != nil || !insert(response, key, file, at: time) else { return }
        noteEvicted(file, time)
    }

    private mutating func noteEvicted(_ file: CacheFileName, _ use: Int64) {
        evictedUses.append((file, use))
        // Old uses that nobody takes are of no use.
        if evictedUses.count > 4_096 { evictedUses.removeFirst(2_048) }
    }

    /// Returns the files whose responses were used since the last call, with the time of the last use.
    mutating func takeUses() -> [(file: CacheFileName, use: Int64)] {
        var uses = evictedUses
        evictedUses = []
        var next = newest
        while let place = next, let entry = entries[place], !entry.isTaken {
            if let file = entry.content.file { uses.append((file, entry.use)) }
            entries[place]?.isTaken = true
            next = entry.older
        }
        return uses
    }

    /// Removes the responses for which the closure returns true.
    mutating func remove(where isMeant: (CacheKey, CacheMarks, StoredResponse) -> Bool) {
        for place in entries.indices {
            if let entry = entries[place], isMeant(entry.content.key, entry.content.marks, entry.content.response) {
                remove(place)
            }
        }
    }

    /// Removes the variants of a key for which the closure returns true.
    mutating func remove(_ key: CacheKey, where isMeant: (StoredResponse) -> Bool) {
        for place in places(of: key) {
            if let entry = entries[place], isMeant(entry.content.response) { remove(place) }
        }
    }

    mutating func removeAll() {
        (entries, free, first, evictedUses) = ([], [], [:], [])
        (oldest, newest, size) = (nil, nil, 0)
    }

    private mutating func evict(_ place: Int) {
        if let entry = entries[place], let file = entry.content.file, !entry.isTaken {
            noteEvicted(file, entry.use)
        }
        evictions += 1
        remove(place)
    }

    private mutating func remove(_ place: Int) {
        guard let entry = entries[place] else { return }
        unlink(place)
        if first[entry.content.key] == place {
            first[entry.content.key] = entry.sibling
        } else if let before = places(of: entry.content.key).first(where: { entries[$0]?.sibling == place }) {
            entries[before]?.sibling = entry.sibling
        }
        entries[place] = nil
        free.append(place)
        size -= entry.content.size
    }

    // MARK: The order of use

    private mutating func link(_ place: Int) {
        entries[place]?.older = newest
        entries[place]?.newer = nil
        if let newest { entries[newest]?.newer = place }
        newest = place
        if oldest == nil { oldest = place }
    }

    private mutating func unlink(_ place: Int) {
        let (older, newer) = (entries[place]?.older, entries[place]?.newer)
        if let older { entries[older]?.newer = newer } else { oldest = newer }
        if let newer { entries[newer]?.older = older } else { newest = older }
    }
}

extension StoredResponse {
    /// The bytes that the response counts for: body, fields and a fixed overhead.
    var size: Int {
        headers.reduce(body.count + variant.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count + 32 }
    }
}
