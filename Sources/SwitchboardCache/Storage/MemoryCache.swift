import SwitchboardPlatform
import Switchboard
import SwitchboardText

/// Stores responses in memory. Above a limit, it evicts the least recently used ones.
struct MemoryCache: Sendable {
    private final class Entry: @unchecked Sendable {  // the owner of the cache locks the variables
        let key: CacheKey
        let keyHash: CacheKeyHash
        let response: StoredResponse
        /// The name of the file, if the response is on disk too.
        let file: CacheFileName?
        let size: Int
        /// The number of the last use.
        var lastUse = 0
        /// The folder's change time when the file was last known to have the response. Nil before the first check.
        var checkedChange: Int64?

        init(_ key: CacheKey, _ response: StoredResponse, _ file: CacheFileName?, size: Int) {
            (self.key, self.keyHash, self.response) = (key, file?.keyHash ?? CacheKeyHash(key), response)
            (self.file, self.size) = (file, size)
        }
    }

    /// The largest total size, in bytes.
    let limit: Int
    /// The largest number of responses.
    private let countLimit: Int
    /// The variants of each key.
    private var entries: [CacheKey: [Entry]] = [:]
    private(set) var count = 0
    private(set) var size = 0
    /// The number of responses that were removed to make room.
    private(set) var evictions = 0
    private var useCount = 0
    /// The next entries to evict, the first one last. An entry that was used since has another number.
    private var victims: [(key: CacheKey, lastUse: Int)] = []
    /// The files whose responses were used, with the time of the last use.
    private var fileUses: [CacheFileName: Int64] = [:]
    /// The time of the folder's last known change. After another one, any file may be gone or replaced.
    var folderChange: Int64 = 0
    private var lastFolderCheck: Int64 = 0

    init(limit: Int, countLimit: Int = 20_000) {
        self.limit = limit
        self.countLimit = countLimit
    }

    /// Returns all variants of a key, the most recently used ones first.
    func variants(of key: CacheKey) -> [StoredResponse] {
        (entries[key] ?? []).sorted { $0.lastUse > $1.lastUse }.map(\.response)
    }

    private func entry(_ key: CacheKey, _ request: NetworkRequest) -> Entry? {
        var found: Entry?
        for entry in entries[key] ?? [] where entry.response.matches(request) {
            if let found, found.response.rules.dateValue >= entry.response.rules.dateValue { continue }
            found = entry
        }
        return found
    }

    /// Returns the most recent response that matches a request, and counts it as used. Also returns its file, and
    /// whether another cache may have removed or replaced the file since ``confirm(_:_:at:)``.
    mutating func find(_ key: CacheKey, _ request: NetworkRequest)
        -> (response: StoredResponse, file: CacheFileName?, needsFileCheck: Bool)?
    {
        guard let entry = entry(key, request) else { return nil }
        use(entry)
        return (entry.response, entry.file, entry.checkedChange != folderChange)
    }

    /// Returns the most recent response that matches a request, without counting it as used.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? { entry(key, request)?.response }

    // MARK: Uses

    private mutating func use(_ entry: Entry, at time: Int64? = nil) {
        useCount += 1
        entry.lastUse = useCount
        if let file = entry.file { recordUse(of: file, at: time ?? CacheTime.now) }
    }

    private mutating func recordUse(of file: CacheFileName, at time: Int64) {
        // Without a commit or an eviction of files, the uses are never taken.
        if fileUses.count > 2 * countLimit { fileUses = [:] }
        fileUses[file] = time
    }

    /// Returns the files whose responses were used since the last call, with the time of the last use.
    mutating func takeUses() -> [(file: CacheFileName, use: Int64)] {
        defer { fileUses = [:] }
        return fileUses.map { (file: $0.key, use: $0.value) }
    }

    // MARK: Changes by other caches

    /// Returns whether a hit checks the folder first: once a second.
    mutating func isFolderCheckDue(at time: Int64) -> Bool {
        guard !(lastFolderCheck..<(lastFolderCheck + CacheTime.second)).contains(time) else { return false }
        lastFolderCheck = time
        return true
    }

    /// Records that the file of a response still has it after a change of the folder.
    func confirm(_ response: StoredResponse, _ key: CacheKey, at change: Int64) {
        for entry in entries[key] ?? [] where entry.response === response { entry.checkedChange = change }
    }

    /// Removes a response whose file another cache removed or replaced.
    mutating func remove(_ response: StoredResponse, _ key: CacheKey) {
        for entry in entries[key] ?? [] where entry.response === response { remove(entry) }
    }

    // MARK: Storing

    /// Stores a response. The caller has removed the variants that it replaces. Returns false, and stores nothing, for
    /// a response that is larger than the limit.
    @discardableResult
    mutating func insert(
        _ response: StoredResponse, _ key: CacheKey, _ file: CacheFileName? = nil, at time: Int64? = nil
    ) -> Bool {
        remove(key) { $0.variant.hasBytes(of: response.variant) }
        let size = response.size + key.url.utf8.count + key.identity.utf8.count
        guard size <= limit, countLimit > 0 else { return false }
        let entry = Entry(key, response, file, size: size)
        entries[key, default: []].append(entry)
        count += 1
        self.size += size
        use(entry, at: time)
        if let variants = entries[key], variants.count > CacheVariant.limit,
            let oldest = variants.min(by: { $0.lastUse < $1.lastUse })
        {
            evict(oldest)
        }
        while self.size > limit || count > countLimit { evictOldest() }
        return true
    }

    /// Stores a response that was read from a file, unless its body stays in the file. Records the use of the file.
    mutating func insertRead(
        _ response: StoredResponse, _ key: CacheKey, _ file: CacheFileName, at time: Int64 = CacheTime.now
    ) {
        if response.file != nil || !insert(response, key, file, at: time) { recordUse(of: file, at: time) }
    }

    private mutating func evictOldest() {
        while count > 0 {
            if victims.isEmpty {
                // Sorts all entries for a tenth of them, so that each eviction takes little time.
                let all = entries.values.joined().map { (key: $0.key, lastUse: $0.lastUse) }
                    .sorted { $0.lastUse < $1.lastUse }
                victims = all.prefix(max(16, all.count / 10)).reversed()
            }
            guard let victim = victims.popLast() else { return }
            if let entry = entries[victim.key]?.first(where: { $0.lastUse == victim.lastUse }) { return evict(entry) }
        }
    }

    private mutating func evict(_ entry: Entry) {
        evictions += 1
        remove(entry)
    }

    // MARK: Removing

    /// Removes the responses for which the closure returns true.
    mutating func remove(where predicate: (CacheKey, CacheKeyHash, StoredResponse) -> Bool) {
        for entry in Array(entries.values.joined()) where predicate(entry.key, entry.keyHash, entry.response) {
            remove(entry)
        }
    }

    /// Removes the variants of a key for which the closure returns true.
    mutating func remove(_ key: CacheKey, where predicate: (StoredResponse) -> Bool) {
        for entry in entries[key] ?? [] where predicate(entry.response) { remove(entry) }
    }

    mutating func removeAll() {
        (entries, victims, fileUses) = ([:], [], [:])
        (count, size) = (0, 0)
    }

    private mutating func remove(_ entry: Entry) {
        entries[entry.key]?.removeAll { $0 === entry }
        if entries[entry.key]?.isEmpty ?? false { entries[entry.key] = nil }
        count -= 1
        size -= entry.size
    }
}

extension StoredResponse {
    /// The bytes that the response counts as: body, fields, names in its `Vary` and a fixed overhead.
    var size: Int {
        let vary = (varyNames ?? []).reduce(0) { $0 + $1.utf8.count + 32 }
        return headers.reduce(body.count + variant.utf8.count + vary + 256) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 32
        }
    }
}
