import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

extension CacheStorage {
    /// Returns the most recent stored response that matches a request, whatever its age. Searches the memory and the file
    /// of the response without `Vary`. Stores a response from disk in memory, and updates the last-used time of its
    /// file. If the result is not final, the caller continues with ``findInMemoryOrOnDisk(_:_:)``. A large body stays in
    /// its file.
    nonisolated func find(
        _ key: CacheKey, _ request: NetworkRequest
    ) -> (found: StoredResponse?, removals: Int, isFinal: Bool) {
        let (found, identityHash, removals) = findInMemory(key, request)
        // A variant on disk may be more recent than one in memory, but not than a response without `Vary`.
        if let found, folder == nil || found.variant.isEmpty { return (found, removals, true) }
        guard let folder else { return (nil, removals, true) }
        if found == nil, let name = name(of: key, identityHash), let read = DiskCache.find(name, key, in: folder) {
            let now = CacheTime.now
            let isWriteDue = state.withLock { state in
                // A response that was removed while it was read is not stored again.
                guard state.removals == removals else { return false }
                state.memory.insertRead(read, key, name, at: now)
                return state.isUseWriteDue(name, at: now)
            }
            if isWriteDue { folder.writeUseTime(of: name, at: now) }
            return (read, removals, true)
        }
        return (nil, removals, false)
    }

    /// Returns the most recent stored response that matches a request, and stores a response from disk in memory.
    func findInMemoryOrOnDisk(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        let found = state.withLock { $0.memory.find(key, request)?.response }
        guard let disk else { return found }
        defer { scanSizes() }
        guard let newer = disk.find(key, request, newerThan: found?.rules.dateValue) else { return found }
        state.withLock { $0.memory.insertRead(newer.response, key, newer.name) }
        return newer.response
    }

    /// Returns a response with its body in memory, unless it is in a file and the request streams, needs no body, or
    /// cannot get all of it within its limit. Nil for a damaged body.
    nonisolated func readable(_ found: StoredResponse, by request: NetworkRequest) -> StoredResponse? {
        guard let file = found.file, request.readsIntoMemory, file.bodyCount <= request.limits.responseBody else {
            return found
        }
        return (try? file.checked(0..<file.bodyCount)).map { found.with(body: $0) }
    }

    /// Returns the response that ``find(_:_:)`` would return, without a body on disk. Does not update its last-used time.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> (response: StoredResponse, isInMemory: Bool)? {
        let inMemory = state.withLock { $0.memory.peek(key, request) }
        if let inMemory, folder == nil || inMemory.variant.isEmpty { return (inMemory, true) }
        if let newer = disk?.peek(key, request, newerThan: inMemory?.rules.dateValue) { return (newer, false) }
        return inMemory.map { ($0, true) }
    }

    func contains(_ key: CacheKey) -> Bool {
        state.withLock { !$0.memory.variants(of: key).isEmpty } || disk?.contains(key) ?? false
    }

    /// Returns the entity tags of all whole variants, without repetitions: the most recently used ones first.
    func entityTags(of key: CacheKey) -> [String] {
        var tags: [String] = []
        let inMemory = state.withLock { $0.memory.variants(of: key) }.filter { $0.part == nil }.compactMap(\.tag)
        for tag in inMemory + (disk?.entityTags(of: key) ?? []) where !tags.contains(where: tag.hasBytes) {
            tags.append(tag)
        }
        return tags
    }

    /// Returns the whole variant with an entity tag, which a load may confirm. Nil if a redirect led to it.
    nonisolated func find(_ tag: String, for load: CacheLoad) async -> StoredResponse? {
        guard let found = await find(tag, load.key, load.number), found.isAnswer(from: nil, to: load.key) else {
            return nil
        }
        return readable(found, by: load.request)
    }

    private func find(_ tag: String, _ key: CacheKey, _ number: Int) -> StoredResponse? {
        let inMemory = state.withLock { $0.memory.variants(of: key) }.first { $0.part == nil && $0.has(tag) }
        let found = inMemory ?? disk?.find(key, tag: tag)
        if let found { loads[number]?.tags.formUnion(found.tags) }
        return found
    }

    /// Returns the most recent response in memory that matches a request, the hash of the key's identity if no response
    /// matches and the hash is known, and the number of removals. Checks the folder once a second, and removes a
    /// response whose file another cache removed or replaced.
    nonisolated func findInMemory(
        _ key: CacheKey, _ request: NetworkRequest
    ) -> (found: StoredResponse?, identityHash: IdentityHash?, removals: Int) {
        var (hit, change, identityHash, removals, isDue) = state.withLock { state in
            let hit = state.memory.find(key, request)
            let identityHash = hit == nil ? state.identityHash(of: key) : nil
            let isDue = hit?.file != nil && state.memory.isFolderCheckDue(at: CacheTime.now)
            return (hit, state.memory.folderChange, identityHash, state.removals, isDue)
        }
        guard let folder else { return (hit?.response, identityHash, removals) }
        if isDue {
            change = folder.comparableChange
            hit = state.withLock { [change] state in
                state.memory.folderChange = change
                return state.memory.find(key, request)
            }
        }
        guard let found = hit, let file = found.file, found.needsFileCheck else {
            return (hit?.response, identityHash, removals)
        }
        let isStored = folder.contains(file, found.response)
        return state.withLock { [change] state in
            if isStored {
                state.memory.confirm(found.response, key, at: change)
                return (found.response, identityHash, removals)
            }
            state.memory.remove(found.response, key)
            return (state.memory.find(key, request)?.response, nil, state.removals)
        }
    }

    /// Returns the name of the file of the response without `Vary`. Nil without a hash function.
    nonisolated func name(of key: CacheKey, _ known: IdentityHash?) -> CacheFileName? {
        if let known { return CacheFileName(key, known) }
        guard let identityHash = try? IdentityHash(key.identity) else { return nil }
        state.withLock { $0.lastIdentity = (key.identity, identityHash) }
        return CacheFileName(key, identityHash)
    }
}
