import SwitchboardPlatform
import Foundation
import Switchboard

/// The storage of a cache: responses in memory, and on disk if the cache has a folder. It also tracks loads in flight.
///
/// A hit from memory takes a lock and no turn of the actor.
actor CacheStorage {
    struct Load {
        let key: CacheKey
        let request: NetworkRequest
        /// The tags of the request, and of the stored responses that the load may confirm.
        var tags: Set<String>
        /// Whether a newer response or a removal superseded this load.
        var isSuperseded = false
    }

    nonisolated let held: Protected<CacheHeld>
    let disk: DiskCache?
    nonisolated let folder: CacheFolder?
    /// The largest total size of memory and disk.
    nonisolated let limits: (memory: Int, disk: Int)
    /// The loads in flight, numbered in the order in which they began.
    var loads: [Int: Load] = [:]
    private var nextLoad = 0
    /// The removals that read the heads of files now. They supersede the loads that begin meanwhile.
    var removals: [Int: Removal] = [:]
    private var isSurveying = false

    init(_ memory: MemoryCache, _ disk: sending DiskCache?) {
        held = Protected(CacheHeld(memory: memory))
        folder = disk?.folder
        limits = (memory.limit, disk?.limit ?? 0)
        self.disk = disk
    }

    // MARK: Storing

    /// Begins a load. The caller ends it with ``end(_:isReplaced:)``, ``store(_:at:)`` or a ``CacheTee``.
    ///
    /// Looks the stored response up again if one was removed or replaced since it was found. A later removal supersedes
    /// the load, so no load stores a removed response again.
    nonisolated func begin(_ load: CacheLoad) async -> CacheLoad {
        var (load, isOther) = await add(load)
        guard isOther else { return load }
        load.found = load.found.flatMap { readable($0, by: load.request) }
        load.stored = load.found.flatMap { $0.canAnswer(load.request) ? $0 : nil }
        return load
    }

    private func add(_ load: CacheLoad) -> (load: CacheLoad, isOther: Bool) {
        var load = load
        let isOther = load.removals.map { old in held.withLock { $0.removals != old } } ?? false
        if isOther { load.found = findOnDisk(load.key, load.request) }
        nextLoad += 1
        let tags = load.request.options.cacheTags.union(load.found?.tags ?? [])
        let isSuperseded = isBeingRemoved(load.key, tags)
        loads[nextLoad] = Load(key: load.key, request: load.request, tags: tags, isSuperseded: isSuperseded)
        load.number = nextLoad
        return (load, isOther)
    }

    /// Ends a load without storing a response.
    ///
    /// - Parameters:
    ///   - load: The load's number.
    ///   - isReplaced: True when the load produced an answer that invalidates the stored response but must not be
    ///     stored.
    ///   - unstored: The answer, if it could be stored with more room. A stored response of its version then stays.
    func end(_ load: Int, isReplaced: Bool = false, unstored: StoredResponse? = nil) {
        guard let load = loads.removeValue(forKey: load), isReplaced, !load.isSuperseded,
            !(unstored.map { isStored(itsVersion: $0, load) } ?? false)
        else { return }
        removeMatching(load.key, load.request)
    }

    /// Ends the load of a HEAD. A 200 removes the responses that could have been chosen for it and that it does not
    /// describe: a more recent one with another status does not protect them.
    func end(_ load: Int, describedBy head: NetworkResponse) {
        guard let load = loads.removeValue(forKey: load), !load.isSuperseded, head.statusCode == 200 else { return }
        func isWrong(_ stored: StoredResponse) -> Bool {
            stored.status == 200 && stored.isFor(load.request) && !stored.isDescribed(by: head)
        }
        disk?.remove(load.key, load.request, where: isWrong)
        held.withLock { held in
            held.removals += 1
            held.memory.remove(load.key, where: isWrong)
        }
    }

    /// Ends a load and stores its response in place of those that match its request, unless a newer load or a removal
    /// superseded it.
    ///
    /// - Returns: The reason why the response was not stored, or not on disk. Nil on success.
    nonisolated func store(_ response: StoredResponse, at number: Int) async -> String? {
        guard let folder, let key = await key(of: number) else { return await place(response, at: number, nil) }
        // Writes outside of the actor.
        let draft = DiskCache.draft(response, key, in: folder, limit: limits.disk).flatMap { draft in
            Result {
                try draft.append(bodyOf: response)
                try draft.finish()
                return draft
            }.mapError(DiskFault.init)
        }
        return await place(response, at: number, draft)
    }

    func key(of number: Int) -> CacheKey? { loads[number].flatMap { $0.isSuperseded ? nil : $0.key } }

    /// Ends a load and stores its response, of a stream only if it may replace what is stored. The body is in a finished
    /// draft, in the response, or both.
    func place(
        _ response: StoredResponse, at number: Int, _ draft: Result<CacheDraft, DiskFault>?, isStream: Bool = false
    ) -> String? {
        let load = loads.removeValue(forKey: number)
        if let load, isBeingRemoved(load.key, load.tags) { return "not stored: it was removed meanwhile" }
        if !isStream, let load, isTooLarge(toBeCombinedWith: response, load) { return "not stored: more is stored" }
        let joined = isStream && draft != nil ? nil : load.flatMap { combined(response, $0) }
        let count = (try? draft?.get())?.bodyCount ?? response.body.count
        let mayReplace = load.map { isStream ? self.mayReplace($0, response, count) : !$0.isSuperseded } ?? false
        guard let load, joined != nil || mayReplace else {
            return response.part == nil || load?.isSuperseded ?? true
                ? "not stored: a newer one was, or it was removed meanwhile" : "not stored: more is stored"
        }
        let response = joined ?? response
        for (other, entry) in loads where other < number && entry.key == load.key && response.isFor(entry.request) {
            loads[other]?.isSuperseded = true
        }
        guard let disk else {
            let isKept = held.withLock { held in
                held.removals += 1
                held.memory.remove(load.key) { $0.isFor(load.request) }
                return held.memory.insert(response, load.key)
            }
            return isKept ? nil : "not stored: it is larger than the cache"
        }
        noteUses()
        let written = joined == nil ? draft : nil
        let result = written?.flatMap { disk.place($0, response, load.key) } ?? disk.write(response, load.key)
        let name = try? result.get()
        let isKept = name == nil && isStored(itsVersion: response, load)
        if !isKept { disk.remove(load.key, load.request, except: name) }
        // A body that is only in the draft is read from there when it is wanted.
        let isInMemory = (try? written?.get()).map { $0.bodyCount == response.body.count } ?? true
        held.withLock { held in
            held.removals += 1
            held.memory.remove(load.key) { response.variant.isEmpty || $0.isFor(load.request) }
            if isInMemory, response.file == nil, response.body.count <= CacheFile.wholeLimit {
                held.memory.insert(response, load.key, name)
            }
        }
        survey()
        guard case .failure(let fault) = result else { return nil }
        return "not stored on disk: \(fault.text)"
    }

    /// Returns a part combined with what is stored now, or a response combined with a part that overtook it. Nil when
    /// they do not fit. Parts may arrive in any order.
    private func combined(_ response: StoredResponse, _ load: Load) -> StoredResponse? {
        guard response.part != nil || load.isSuperseded, response.file == nil,
            let current = findOnDisk(load.key, load.request), response.part != nil || current.part != nil
        else { return nil }
        guard let file = current.file else { return current.joined(with: response) }
        return (try? file.checked(0..<file.bodyCount)).flatMap { current.with(body: $0).joined(with: response) }
    }

    /// Updates the other variants that have the strong entity tag of a confirmed response. Removes those for which the
    /// closure returns nil.
    func update(_ key: CacheKey, like confirmed: StoredResponse, _ change: (StoredResponse) -> StoredResponse?) {
        guard let tag = confirmed.tag, tag.hasPrefix("\"") else { return }
        let inMemory = held.withLock { $0.memory.variants(of: key) }
        let others = disk?.all(key, tag: tag).filter { other in !inMemory.contains(where: other.isSameVariant) } ?? []
        for found in inMemory + others
        where found.tag == tag && !found.isSameVariant(as: confirmed) {
            let changed = isBeingRemoved(key, found.tags) ? nil : change(found)
            let old = try? CacheFileName(key).with(variant: found.variant)
            if let old, changed?.isSameVariant(as: found) != true { disk?.remove(old) }
            let name = changed.flatMap { changed in disk.flatMap { try? $0.write(changed, key).get() } }
            held.withLock { held in
                held.removals += 1
                held.memory.remove(key) { $0.isSameVariant(as: found) }
                if let changed, changed.file == nil { held.memory.insert(changed, key, name) }
            }
        }
    }

    // MARK: Counts

    /// Counts the answer to a request.
    nonisolated func count(_ outcome: CacheOutcome, _ bytes: Int) {
        held.withLock { $0.counts.count(outcome, bytes) }
    }

    /// The counts, and the size of all responses. It takes the time of the survey if that has not ended.
    var usage: CacheUsage {
        get async {
            while let disk, disk.isUnknown {
                noteUses()
                disk.survey()
                await Task.yield()
            }
            var usage = held.withLock { held in
                var usage = held.counts
                (usage.count, usage.memory, usage.evictions) = (
                    held.memory.count, held.memory.size, held.memory.evictions
                )
                return usage
            }
            if let disk { (usage.count, usage.disk, usage.evictions) = (disk.count, disk.size, disk.evictions) }
            return usage
        }
    }

    /// Tells the disk which of its responses the memory answered with.
    private func noteUses() {
        guard let disk else { return }
        for (file, use) in held.withLock({ $0.memory.takeUses() }) { disk.noteUse(of: file, at: use) }
    }

    /// Reads the sizes of files in the background, in steps of less than a millisecond.
    func survey() {
        guard let disk, disk.isUnknown, !isSurveying else { return }
        isSurveying = true
        Task(priority: .utility) { [weak self] in
            while await self?.surveyMore() ?? false { await Task.yield() }
        }
    }

    private func surveyMore() -> Bool {
        noteUses()
        disk?.survey()
        isSurveying = disk?.isUnknown ?? false
        return isSurveying
    }
}

extension CacheStorage: CustomReflectable {
    /// An empty mirror: the keys contain header fields, credentials among them.
    nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}
