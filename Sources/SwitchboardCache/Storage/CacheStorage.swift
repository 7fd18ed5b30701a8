import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// The storage of a cache: responses in memory, and on disk if the cache has a folder. It also tracks loads in flight.
///
/// Memory hits take a lock and do not enter the actor.
actor CacheStorage {
    /// The state that a lock guards, so that a memory hit reads it without entering the actor.
    struct State: Sendable {
        var memory: MemoryCache
        var counts = ResponseCache.Usage()
        /// The number of removals and replacements. Each counts after its files are gone; a removal also counts before.
        var removals = 0
        /// The identity of the last response that was read from disk, with its hash. Most programs have one identity.
        var lastIdentity: (text: String, hash: IdentityHash)?
        /// The files whose last-used time was updated in the current minute.
        private var updatedUses: (since: Int64, files: Set<CacheFileName.Key>) = (0, [])

        init(memory: MemoryCache) {
            self.memory = memory
        }

        /// Returns the hash of a key's identity, if it is the last one.
        func identityHash(of key: CacheKey) -> IdentityHash? {
            lastIdentity.flatMap { $0.text.hasBytes(of: key.identity) ? $0.hash : nil }
        }

        /// Returns whether a file's last-used time is due to be updated, once a minute, and counts it as updated.
        mutating func isUseWriteDue(_ name: CacheFileName, at time: Int64) -> Bool {
            let isOver = !(updatedUses.since..<(updatedUses.since + CacheTime.useWriteInterval)).contains(time)
            if isOver || updatedUses.files.count > 4_096 { updatedUses = (time, []) }
            return updatedUses.files.insert(name.key).inserted
        }
    }

    struct Load {
        let key: CacheKey
        let request: NetworkRequest
        /// The tags of the request, and of the stored responses that the load may confirm.
        var tags: Set<String>
        /// Whether a newer response or a removal superseded this load.
        var isSuperseded = false
    }

    nonisolated let state: Protected<State>
    let disk: DiskCache?
    nonisolated let folder: CacheFolder?
    /// The largest total size of memory and disk.
    nonisolated let limits: (memory: Int, disk: Int)
    /// The loads in flight, numbered in the order in which they began.
    var loads: [Int: Load] = [:]
    /// The numbers of the loads in flight by key.
    private var numbers: [CacheKey: Set<Int>] = [:]
    private var nextLoad = 0
    private var isScanning = false

    init(_ memory: MemoryCache, _ disk: sending DiskCache?) {
        state = Protected(State(memory: memory))
        folder = disk?.folder
        limits = (memory.limit, disk?.limit ?? 0)
        self.disk = disk
    }

    // MARK: Storing

    /// Begins a load. The caller ends it with ``end(_:replacedBy:unstored:)``, ``end(_:head:)``, ``store(_:at:)`` or a
    /// ``CacheTee``.
    ///
    /// Finds the stored response again if one was removed or replaced in between. A later removal supersedes the load,
    /// so no load stores a removed response again.
    nonisolated func begin(_ load: CacheLoad) async -> CacheLoad {
        var (load, isFoundAgain) = await add(load)
        guard isFoundAgain else { return load }
        load.found = load.found.flatMap { readable($0, by: load.request) }
        load.stored = load.found.flatMap { $0.canAnswer(load.request) ? $0 : nil }
        return load
    }

    private func add(_ load: CacheLoad) -> (load: CacheLoad, isFoundAgain: Bool) {
        var load = load
        let isFoundAgain = load.removals.map { old in state.withLock { $0.removals != old } } ?? false
        if isFoundAgain { load.found = findInMemoryOrOnDisk(load.key, load.request) }
        nextLoad += 1
        let tags = load.request.options.cacheTags.union(load.found?.tags ?? [])
        loads[nextLoad] = Load(key: load.key, request: load.request, tags: tags)
        numbers[load.key, default: []].insert(nextLoad)
        load.number = nextLoad
        load.earlierCount = load.request.call?.history.count ?? 0
        return (load, isFoundAgain)
    }

    private func takeLoad(_ number: Int) -> Load? {
        guard let load = loads.removeValue(forKey: number) else { return nil }
        numbers[load.key]?.remove(number)
        if numbers[load.key]?.isEmpty ?? false { numbers[load.key] = nil }
        return load
    }

    /// Ends a load without storing a response.
    ///
    /// - Parameters:
    ///   - number: The load's number.
    ///   - headers: The fields of an answer that invalidates the stored response but must not be stored. It supersedes
    ///     the older loads with its values of the fields that its `Vary` names. Nil without such an answer.
    ///   - unstored: The answer, if it may be stored but its body was not: it is too large, or the disk failed. A
    ///     stored response of its version then stays.
    func end(_ number: Int, replacedBy headers: HTTPHeaders? = nil, unstored: StoredResponse? = nil) {
        guard let load = takeLoad(number), let headers, !load.isSuperseded,
            !(unstored.map { isSameVersionStored(as: $0, load) } ?? false)
        else { return }
        let names = CacheVariant.names(headers) ?? []
        let variant = CacheVariant.text(names, of: load.request)
        supersede(load, olderThan: number) { CacheVariant.text(names, of: $0).hasBytes(of: variant) }
        removeMatching(load.key, load.request)
    }

    /// Ends the load of an answer that invalidates the stored response, but belongs to another call, whose own load
    /// stores it. That call may be canceled, so this removes the response that was stored when the load began.
    func end(_ number: Int, replacing found: StoredResponse?) {
        guard let load = takeLoad(number), !load.isSuperseded, let found,
            findInMemoryOrOnDisk(load.key, load.request)?.isEqual(to: found) ?? false
        else { return }
        removeMatching(load.key, load.request)
    }

    private func supersede(_ load: Load, olderThan number: Int, where predicate: (NetworkRequest) -> Bool) {
        for other in numbers[load.key] ?? [] where other < number {
            if let older = loads[other], predicate(older.request) { loads[other]?.isSuperseded = true }
        }
    }

    /// Ends the load of a HEAD. A 200 removes the stored 200s that match the request and whose fields differ from its
    /// own.
    func end(_ load: Int, head: NetworkResponse) {
        guard let load = takeLoad(load), !load.isSuperseded, head.statusCode == 200 else { return }
        func isOutdated(_ stored: StoredResponse) -> Bool {
            stored.status == 200 && stored.matches(load.request) && !stored.agrees(withHead: head)
        }
        remove {
            $0.remove(load.key, load.request, where: isOutdated)
        } fromMemory: {
            $0.remove(load.key, where: isOutdated)
        }
    }

    /// Ends a load and stores its response in place of those that match its request, unless a newer load or a removal
    /// superseded it.
    ///
    /// - Returns: The reason why the response was not stored, or not on disk. Nil on success.
    nonisolated func store(_ response: StoredResponse, at number: Int) async -> CacheRefusal? {
        guard let folder, let key = await key(of: number) else { return await commit(response, at: number, nil) }
        // Writes outside of the actor.
        let draft = Result { () throws(CacheRefusal) in
            try DiskCache.finishedDraft(response, key, in: folder, limit: limits.disk)
        }
        return await commit(response, at: number, draft)
    }

    func key(of number: Int) -> CacheKey? { loads[number].flatMap { $0.isSuperseded ? nil : $0.key } }

    /// Ends a load and stores its response. The body is in a finished draft, in the response, or in both. A streamed
    /// response is stored only if ``mayReplace(_:_:_:_:)`` allows it.
    func commit(
        _ response: StoredResponse, at number: Int, _ draft: Result<CacheDraft, CacheRefusal>?, isStream: Bool = false
    ) -> CacheRefusal? {
        let superseded: CacheRefusal = "a newer one was, or it was removed meanwhile"
        guard let load = takeLoad(number) else { return superseded }
        // Only a part, and the response to a superseded load, depend on the stored response.
        let current =
            response.part != nil || load.isSuperseded ? findInMemoryOrOnDisk(load.key, load.request) : nil
        if !isStream, isTooLarge(current, toBeCombinedWith: response, load) { return "more is stored" }
        let joined = isStream && draft != nil ? nil : current.flatMap { combined($0, with: response) }
        let count = (try? draft?.get())?.bodyCount ?? response.body.count
        guard joined != nil || (isStream ? mayReplace(current, response, count, load) : !load.isSuperseded) else {
            return response.part == nil || load.isSuperseded ? superseded : "more is stored"
        }
        let response = joined ?? response
        supersede(load, olderThan: number) { response.matches($0) }
        guard let disk else {
            let isKept = state.withLock { state in
                state.removals += 1
                state.memory.remove(load.key) { $0.matches(load.request) }
                return state.memory.insert(response, load.key)
            }
            return isKept ? nil : "it is larger than the cache"
        }
        recordUses()
        let written = joined == nil ? draft : nil
        let result = Result { () throws(CacheRefusal) in
            guard let written else { return try disk.write(response, load.key) }
            return try disk.commit(written.get(), response, load.key)
        }
        let name = try? result.get()
        let isKept = name == nil && isSameVersionStored(as: response, load)
        if !isKept { disk.remove(load.key, load.request, except: name) }
        // A body that is only in the draft is read from the file later.
        let isInMemory = (try? written?.get()).map { $0.bodyCount == response.body.count } ?? true
        state.withLock { state in
            state.removals += 1
            state.memory.remove(load.key) { response.variant.isEmpty || $0.matches(load.request) }
            if isInMemory, response.file == nil, response.body.count <= CacheFile.wholeLimit {
                state.memory.insert(response, load.key, name)
            }
        }
        scanSizes()
        guard case .failure(let fault) = result else { return nil }
        return fault
    }

    /// Returns the stored response combined with a new one. Nil when neither is a part, and when they do not fit. Parts
    /// may arrive in any order.
    private func combined(_ current: StoredResponse, with response: StoredResponse) -> StoredResponse? {
        guard response.file == nil, response.part != nil || current.part != nil else { return nil }
        guard let file = current.file else { return current.joined(with: response) }
        return (try? file.checked(0..<file.bodyCount)).flatMap { current.with(body: $0).joined(with: response) }
    }

    /// Returns whether the stored bytes of a part's version are above the request's limit, so that they are not
    /// combined with the part.
    private func isTooLarge(
        _ current: StoredResponse?, toBeCombinedWith response: StoredResponse, _ load: Load
    ) -> Bool {
        // A confirmed part is in its file already.
        guard response.part != nil, response.file == nil, let current, let file = current.file else { return false }
        return file.bodyCount > load.request.limits.responseBody && current.isSameVersion(as: response)
    }

    /// Returns whether the stored response has the same strong validator as the answer to a load.
    private func isSameVersionStored(as answer: StoredResponse, _ load: Load) -> Bool {
        findInMemoryOrOnDisk(load.key, load.request)?.isSameVersion(as: answer) ?? false
    }

    /// Returns whether a streamed response may replace the stored one. A part replaces a shorter part of its version. A
    /// whole response replaces every part of its version.
    private func mayReplace(
        _ current: StoredResponse?, _ response: StoredResponse, _ count: Int, _ load: Load
    ) -> Bool {
        guard let current else { return !load.isSuperseded }
        guard let part = current.part else { return false }
        guard current.isSameVersion(as: response) else { return !load.isSuperseded }
        return response.part == nil || part.prefix < count
    }

    /// Updates the other variants that have the strong entity tag of a confirmed response. Removes a variant if the
    /// closure returns nil for it.
    func updateVariants(
        of key: CacheKey, taggedAs confirmed: StoredResponse, _ change: (StoredResponse) -> StoredResponse?
    ) {
        guard let tag = confirmed.tag, tag.utf8.first == .quote else { return }
        let inMemory = state.withLock { $0.memory.variants(of: key) }
        let others = disk?.all(key, tag: tag).filter { other in !inMemory.contains(where: other.isSameVariant) } ?? []
        for found in inMemory + others
        where found.tag?.hasBytes(of: tag) == true && !found.isSameVariant(as: confirmed) {
            var changed = change(found)
            // With fewer names in `Vary`, the response may become the variant of a more recent one.
            if let new = changed, !new.isSameVariant(as: found), isMoreRecentStored(than: new, key) { changed = nil }
            let old = try? CacheFileName(key).with(variant: found.variant)
            if let old, changed?.isSameVariant(as: found) != true { disk?.remove(old) }
            let name = changed.flatMap { changed in disk.flatMap { try? $0.write(changed, key) } }
            state.withLock { [changed] state in
                state.removals += 1
                state.memory.remove(key) { $0.isSameVariant(as: found) }
                if let changed, changed.file == nil { state.memory.insert(changed, key, name) }
            }
        }
    }

    /// Returns whether a response of the same variant is stored that is not older.
    private func isMoreRecentStored(than response: StoredResponse, _ key: CacheKey) -> Bool {
        let inMemory = state.withLock { $0.memory.variants(of: key) }.first { $0.isSameVariant(as: response) }
        guard let date = inMemory?.rules.dateValue ?? disk?.date(key, variant: response.variant) else { return false }
        return date >= response.rules.dateValue
    }

    // MARK: Counts

    nonisolated func count(_ outcome: ResponseCache.Outcome, _ bytes: Int) {
        state.withLock { $0.counts.count(outcome, bytes) }
    }

    /// The counts, and the size of all responses. Waits until the sizes of all files are known.
    var usage: ResponseCache.Usage {
        get async {
            disk?.list()
            while let disk, disk.needsScan {
                recordUses()
                disk.scanSizes()
                await Task.yield()
            }
            var usage = state.withLock { state in
                var usage = state.counts
                (usage.count, usage.memory, usage.evictions) = (
                    state.memory.count, state.memory.size, state.memory.evictions
                )
                return usage
            }
            if let disk { (usage.count, usage.disk, usage.evictions) = (disk.count, disk.size, disk.evictions) }
            return usage
        }
    }

    /// Records the uses of files whose responses the memory answered with.
    private func recordUses() {
        guard let disk else { return }
        for (file, use) in state.withLock({ $0.memory.takeUses() }) { disk.recordUse(of: file, at: use) }
    }

    /// Reads the sizes of files in the background, in steps of less than a millisecond.
    func scanSizes() {
        guard let disk, disk.needsScan, !isScanning else { return }
        isScanning = true
        Task(priority: .utility) { [weak self] in
            while await self?.scanMore() ?? false { await Task.yield() }
        }
    }

    private func scanMore() -> Bool {
        recordUses()
        disk?.scanSizes()
        isScanning = disk?.needsScan ?? false
        return isScanning
    }
}

extension CacheStorage: CustomReflectable {
    /// An empty mirror: the keys contain header fields, credentials among them.
    nonisolated var customMirror: Mirror { Mirror(self, children: []) }
}
