import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// Stores responses in a folder, one file per response. The instance belongs to the actor ``CacheStorage``. Any task
/// may call the static functions.
///
/// The names of the files are the index: see ``CacheFileName``. A response without `Vary` is found by its name alone,
/// so the first hit needs no listing. For other responses the folder is listed once, and again when another process
/// changed it. Sizes and last-used times are read in the background, see ``scanSizes(_:)``. The cache leaves other
/// files alone and removes damaged ones, which count as absent. Only the owner can read the files. Above a limit, the
/// cache evicts the least recently used responses; a file counts as whole blocks of 4 KiB.
///
/// Several processes may use one folder. Files are written atomically and never changed, so each process finds complete
/// responses or none. Each process applies the limits to the files that it knows.
final class DiskCache {
    let folder: CacheFolder
    let limit: Int
    let countLimit: Int
    var index = DiskIndex()
    /// The number of responses that were removed to make room.
    var evictions = 0
    /// The number of listings, the end of the last one and its duration, in nanoseconds.
    private(set) var listing: (count: Int, end: Int64, duration: Int64) = (0, 0, 0)
    /// The files whose size is unknown.
    var unscanned: [CacheFileName] = []
    /// The next files to evict, the first one last.
    var victims: [(name: CacheFileName, use: Int64)] = []

    /// Creates a disk cache.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files. Created if missing.
    ///   - limit: The largest total size of the files, in bytes.
    ///   - countLimit: The largest number of files.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when the folder cannot be created, when another user owns it or
    ///   can write it, or when no file is within the limit, `NetworkError.Code.unsupported` on a system without a hash
    ///   function.
    init(_ folder: URL, limit: Int, countLimit: Int = 100_000) throws(NetworkError) {
        self.folder = CacheFolder(folder)
        self.limit = limit
        self.countLimit = countLimit
        guard limit >= Self.space(1) else {
            throw NetworkError(
                .cannotWriteFile,
                reason: "a disk limit of \(limit) bytes is less than the \(Self.space(1)) bytes of the smallest file")
        }
        _ = try MessageDigest.sha256.checkedHash(Data())
        do {
            try self.folder.make()
        } catch {
            let reason =
                if !folder.isFileURL {
                    "\(folder.absoluteString.quotedForMessage) is not a file URL"
                } else if FileManager.default.fileExists(atPath: folder.path) {
                    "\(folder.path.quotedInFull) is a file, not a folder"
                } else {
                    "the folder \(folder.path.quotedInFull) cannot be created: \(error.localizedDescription)"
                }
            throw NetworkError(.cannotWriteFile, reason: reason, underlying: error)
        }
        if let fault = self.folder.fault {
            throw NetworkError(.cannotWriteFile, reason: "the folder \(folder.path.quotedInFull) \(fault)")
        }
    }

    // MARK: Finding

    func contains(_ key: CacheKey) -> Bool {
        guard let name = try? CacheFileName(key) else { return false }
        list()
        return !index[name.key].isEmpty
    }

    /// Returns the entity tags of all whole variants, the most recently used ones first.
    func entityTags(of key: CacheKey) -> [String] {
        variants(of: key).filter { !$0.summary.isPart }
            .sorted { index.item($0.name)?.use ?? 0 > index.item($1.name)?.use ?? 0 }.compactMap(\.summary.tag)
    }

    /// Reads the most recent response that matches a request. Nil unless its `Date` is after `limit`.
    func find(_ key: CacheKey, _ request: NetworkRequest, newerThan limit: Date? = nil)
        -> (response: StoredResponse, name: CacheFileName)?
    {
        find(key, request, limit) { read($0, key) }
    }

    /// Returns the response that ``find(_:_:newerThan:)`` would return without its body, and does not count it as used.
    func peek(_ key: CacheKey, _ request: NetworkRequest, newerThan limit: Date?) -> StoredResponse? {
        find(key, request, limit) { name in
            guard case .found(let found) = CacheFile.readHead(folder.path(of: name)) else { return nil }
            return found.matches(key) ? found.response : nil
        }?.response
    }

    private func find(
        _ key: CacheKey, _ request: NetworkRequest, _ limit: Date?, _ read: (CacheFileName) -> StoredResponse?
    ) -> (response: StoredResponse, name: CacheFileName)? {
        for variant in variants(of: key).sorted(by: { $0.summary.dateValue > $1.summary.dateValue })
        where CacheVariant.matches(variant.summary.variant, variant.summary.vary, request) {
            if let limit, variant.summary.dateValue <= limit { return nil }
            if let response = read(variant.name), response.matches(request) { return (response, variant.name) }
        }
        return nil
    }

    /// Reads the response without `Vary`, which replaced all other variants, by its file's name.
    static func find(_ name: CacheFileName, _ key: CacheKey, in folder: CacheFolder) -> StoredResponse? {
        guard !folder.remaining.withLock({ $0.contains(name) }) else { return nil }
        switch CacheFile.read(folder.path(of: name), expecting: key.url) {
        case .found(let found) where found.matches(key): return found.response
        case .damaged(let file): folder.change { file.remove() }
        default: break
        }
        return nil
    }

    /// Reads the whole variant with an entity tag.
    func find(_ key: CacheKey, tag: String) -> StoredResponse? {
        variants(of: key).first { !$0.summary.isPart && $0.summary.tag?.isSameTag(as: tag) ?? false }
            .flatMap { read($0.name, key) }.flatMap { $0.part == nil && $0.has(tag) ? $0 : nil }
    }

    /// Returns the `Date` of a variant. Nil if it is not stored.
    func date(_ key: CacheKey, variant: String) -> Date? {
        guard let name = try? CacheFileName(key).with(variant: variant) else { return nil }
        return variants(of: key).first { $0.name == name }?.summary.dateValue
    }

    /// Reads all variants with an entity tag.
    func all(_ key: CacheKey, tag: String) -> [StoredResponse] {
        variants(of: key).filter { $0.summary.tag?.hasBytes(of: tag) == true }.compactMap { read($0.name, key) }
    }

    private func variants(of key: CacheKey) -> [(name: CacheFileName, summary: DiskIndex.Summary)] {
        guard let name = try? CacheFileName(key) else { return [] }
        list()
        return index[name.key].compactMap { item in
            summary(of: item.name).flatMap { $0.matches(key) ? (item.name, $0) : nil }
        }
    }

    /// Returns the summary of a file's head, which is read once. Nil for a file that is gone or cannot be read.
    func summary(of name: CacheFileName) -> DiskIndex.Summary? {
        if let summary = index.item(name)?.summary { return summary }
        guard case .found(let found) = content(of: name, isHeadOnly: true) else { return nil }
        let summary = DiskIndex.Summary(found.response, found.url, found.partition)
        index.change(name) { $0.summary = summary }
        return summary
    }

    private func read(_ name: CacheFileName, _ key: CacheKey) -> StoredResponse? {
        guard case .found(let found) = content(of: name), found.matches(key) else { return nil }
        // Another process may have replaced the file since it was listed.
        index.change(name) { $0.summary = DiskIndex.Summary(found.response, key.url, key.partition) }
        recordUse(of: name, at: CacheTime.now)
        return found.response
    }

    private func content(of name: CacheFileName, isHeadOnly: Bool = false) -> CacheFile.Content {
        let path = folder.path(of: name)
        let content = isHeadOnly ? CacheFile.readHead(path) : CacheFile.read(path)
        switch content {
        case .missing: index.remove(name)
        case .damaged(let file):
            folder.change { file.remove() }
            index.remove(name)
        default: break
        }
        return content
    }

    // MARK: Storing

    static func draft(
        _ response: StoredResponse, _ key: CacheKey, in folder: CacheFolder, limit: Int
    ) throws(CacheRefusal) -> CacheDraft {
        do {
            let head = try CacheHead.bytes(of: response, key)
            guard head.count < CacheHead.limit else { throw CacheRefusal.onDisk("its fields are too long") }
            guard space(CacheHead.Lengths(head: head.count, body: response.bodyCount).size) <= limit else {
                throw CacheRefusal.onDisk("it is larger than the cache")
            }
            return try CacheDraft(head, in: folder, limit: limit / 4_096 * 4_096)
        } catch {
            throw .onDisk(error)
        }
    }

    /// Returns a finished file with a response and its body.
    static func finishedDraft(
        _ response: StoredResponse, _ key: CacheKey, in folder: CacheFolder, limit: Int
    ) throws(CacheRefusal) -> CacheDraft {
        let draft = try draft(response, key, in: folder, limit: limit)
        do {
            try draft.append(bodyOf: response)
            try draft.finish()
        } catch {
            throw .onDisk(error)
        }
        return draft
    }

    /// Stores a response. Returns the name of its file.
    @discardableResult
    func write(_ response: StoredResponse, _ key: CacheKey) throws(CacheRefusal) -> CacheFileName {
        try commit(Self.finishedDraft(response, key, in: folder, limit: limit), response, key)
    }

    /// Stores a response whose file is finished. Returns the name of its file.
    func commit(
        _ draft: CacheDraft, _ response: StoredResponse, _ key: CacheKey
    ) throws(CacheRefusal) -> CacheFileName {
        let name: CacheFileName
        do {
            name = try CacheFileName(key).with(variant: response.variant)
            try draft.commit(to: folder.path(of: name))
        } catch {
            throw .onDisk(error)
        }
        folder.remaining.withLock { _ = $0.names.remove(name) }
        index.add(name)
        let now = CacheTime.now
        let space = Self.space(draft.size)
        index.change(name) { item in
            (item.inode, item.size, item.use, item.writtenUse) = (draft.inode, space, now, now)
            item.summary = DiskIndex.Summary(response, key.url, key.partition)
        }
        let variants = index[name.key]
        if variants.count > CacheVariant.limit,
            let oldest = variants.filter({ $0.name != name }).min(by: {
                CacheTime.use($0.use, at: now) < CacheTime.use($1.use, at: now)
            })
        {
            remove(oldest.name)
            evictions += 1
        }
        // A program that writes before the scan has ended scans some files with each write.
        if needsScan { scanSizes() }
        makeRoom(keeping: name)
        return name
    }

    /// Records that a response was used, at most once a minute in its file.
    func recordUse(of name: CacheFileName, at time: Int64) {
        let now = CacheTime.now
        index.change(name) { item in
            item.use = max(CacheTime.use(item.use, at: now), time)
            guard CacheTime.use(item.writtenUse, at: now) < time - CacheTime.useWriteInterval else { return }
            item.writtenUse = time
            folder.writeUseTime(of: name, at: time)
        }
    }

    // MARK: Removing

    /// Removes the variants that match a request, except one file. If that file has the response without `Vary`,
    /// removes all other variants, because a lookup by name does not compare dates.
    func remove(_ key: CacheKey, _ request: NetworkRequest, except keptName: CacheFileName? = nil) {
        guard let plainName = try? CacheFileName(key) else { return }
        let isWithoutVary = keptName.map { $0.variant == nil } ?? false
        // Another process may have stored a response without `Vary` since the folder was listed.
        if !isWithoutVary, index.item(plainName) == nil, folder.contains(plainName), index.add(plainName) {
            unscanned.append(plainName)
        }
        list()
        for name in index[plainName.key].map(\.name) where name != keptName {
            guard let summary = summaryForRemoval(of: name), summary.matches(key) else { continue }
            if isWithoutVary || CacheVariant.matches(summary.variant, summary.vary, request) { remove(name) }
        }
    }

    /// Returns the summary of a file's head. Nil for a file that is gone, and for one that cannot be read now, which it
    /// removes, because the caller may mean that file.
    private func summaryForRemoval(of name: CacheFileName) -> DiskIndex.Summary? {
        if let summary = summary(of: name) { return summary }
        if index.item(name) != nil { remove(name) }
        return nil
    }

    /// Removes the variants that match a request and for which the closure returns true. The closure receives
    /// responses without their bodies.
    func remove(_ key: CacheKey, _ request: NetworkRequest, where predicate: (StoredResponse) -> Bool) {
        for (name, summary) in variants(of: key) where CacheVariant.matches(summary.variant, summary.vary, request) {
            if case .found(let found) = CacheFile.readHead(folder.path(of: name)), predicate(found.response) {
                remove(name)
            }
        }
    }

    func remove(where predicate: (CacheKeyHash) -> Bool) {
        for name in names where predicate(name.keyHash) { remove(name) }
    }

    /// The names of all files, including those that another process has just written.
    var names: [CacheFileName] {
        list(isComplete: true)
        return index.all.map(\.name)
    }

    /// Removes the known files for which the closure returns true. Reads the heads that the index does not describe.
    /// Does not list the folder, which may make the index forget the heads that the caller had read.
    func remove(where isRemoved: (_ url: String, _ partition: String, _ tags: Set<String>) -> Bool) {
        for name in index.all.map(\.name) {
            guard let summary = summaryForRemoval(of: name) else { continue }
            if isRemoved(summary.url, summary.partition, summary.tags) { remove(name) }
        }
    }

    /// Removes all cache files in the folder, including files of other processes.
    func removeAll() {
        let list = folder.list()
        let names = list?.files.map(\.name) ?? index.all.map(\.name)
        let remaining = names.filter { !folder.remove($0) }
        if let list { folder.sweep(list.leftovers, isRemovingAll: true) }
        if list != nil, remaining.isEmpty {
            folder.remaining.withLock { $0 = CacheFolder.Remaining() }
        } else {
            folder.hide(nil)
        }
        (index, unscanned, victims) = (DiskIndex(), [], [])
        let changed = folder.changed
        folder.known.withLock { $0 = CacheFolder.Known(changed: changed, hasOwnChanges: true) }
    }

    func remove(_ name: CacheFileName) {
        if folder.change({ folder.remove(name) }) {
            folder.remaining.withLock { _ = $0.names.remove(name) }
        } else {
            folder.hide(name)
        }
        index.remove(name)
    }

    // MARK: The index

    /// Lists the folder after a change by another process, and a second after a change by this process. Listings that
    /// take more than a millisecond take at most a hundredth of the time, unless the list must be complete, as for a
    /// removal.
    func list(isComplete: Bool = false) {
        let start = CacheTime.now
        let elapsed = start < listing.end ? .max : start - listing.end
        guard isComplete || elapsed >= (listing.duration < 1_000_000 ? 0 : listing.duration * 100) else { return }
        if folder.remaining.value.isAny {
            removeAll()
            return endListing(since: start)
        }
        let changed = folder.changed
        let known = folder.known.value
        guard changed != known.changed || known.hasOwnChanges && (isComplete || elapsed >= CacheTime.second) else {
            return
        }
        let list = folder.list()
        // A folder that cannot be read is tried again when it changes.
        let isRepeatable = list != nil && CacheTime.isRepeatable(changed, at: start)
        folder.known.withLock { $0 = CacheFolder.Known(changed: isRepeatable ? changed - 1 : changed) }
        guard let (files, leftovers) = list else {
            // A removal would miss files.
            if isComplete { folder.hide(nil) }
            return
        }
        // Another process may have replaced any file.
        if changed != known.changed, changed - 1 != known.changed { index.removeSummaries() }
        var gone: [CacheFileName: UInt64] = [:]
        for item in index.all { gone[item.name] = item.inode }
        let remaining = folder.remaining.value
        for (name, inode) in files {
            guard !remaining.contains(name) else {
                remove(name)
                continue
            }
            guard gone.removeValue(forKey: name) != inode else { continue }
            index.add(name)
            // Another process may have replaced the file.
            index.change(name) { ($0.inode, $0.summary, $0.size) = (inode, nil, nil) }
            unscanned.append(name)
        }
        for name in gone.keys { index.remove(name) }
        folder.sweep(leftovers)
        endListing(since: start)
    }

    private func endListing(since start: Int64) {
        let end = CacheTime.now
        // A clock that was set, or a process that was suspended, makes the duration long.
        listing = (listing.count + 1, end, min(end - start, 10 * CacheTime.second))
    }
}
