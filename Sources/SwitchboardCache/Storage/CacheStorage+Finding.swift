import SwitchboardPlatform
import Foundation
import Switchboard

extension CacheStorage {
    /// Finds a response and decides about it. A body in a file is read if the request does not stream: of a range, only
    /// the bytes that it asks for. Also returns the number of removals before that. Inlined, because most hits do not
    /// wait.
    @inline(__always)
    nonisolated func decide(
        _ key: CacheKey, _ request: NetworkRequest, _ cache: ResponseCache, at now: Date
    ) async -> (found: StoredResponse?, stored: StoredResponse?, decision: ResponseCache.Decision, removals: Int) {
        var (found, removals, isFinal) = find(key, request)
        if !isFinal { found = await findOnDisk(key, request) }
        var stored = found.flatMap { $0.canAnswer(request) ? $0 : nil }
        let decision = cache.decision(on: stored, request, at: now)
        guard let large = found, large.file != nil, request.readsIntoMemory else {
            return (found, stored, decision, removals)
        }
        // A revalidation in the background needs the whole.
        if case .answer(_, let outcome) = decision, outcome != .stale(.whileRevalidating),
            let slice = large.withSlice(for: request)
        {
            return (found, stored, .answer(slice, outcome), removals)
        }
        found = readable(large, by: request)
        // Forgets a file that was damaged and is gone.
        if found == nil { _ = await findOnDisk(key, request) }
        stored = found.flatMap { $0.canAnswer(request) ? $0 : nil }
        return (found, stored, cache.decision(on: stored, request, at: now), removals)
    }

    /// Returns the most recent stored response that matches a request, whatever its age, if it is in memory or in the
    /// file of a response without `Vary`. If it is not final, ``findOnDisk(_:_:)`` finds it. A large body stays in its
    /// file.
    private nonisolated func find(
        _ key: CacheKey, _ request: NetworkRequest
    ) -> (found: StoredResponse?, removals: Int, isFinal: Bool) {
        let (found, owner, removals) = findInMemory(key, request)
        // Another variant on disk may be more recent than one in memory. Nothing is more recent than one without.
        if let found, folder == nil || found.variant.isEmpty { return (found, removals, true) }
        guard let folder else { return (nil, removals, true) }
        if found == nil, let name = name(of: key, owner), let read = DiskCache.find(name, key, in: folder) {
            let now = CacheTime.now
            let isToBeTold = held.withLock { held in
                // A response that was removed while it was read must not come back.
                guard held.removals == removals else { return false }
                held.memory.note(read, key, name, at: now)
                return held.isToBeTold(name, at: now)
            }
            if isToBeTold { folder.tellUse(of: name, at: now) }
            return (read, removals, true)
        }
        return (nil, removals, false)
    }

    func findOnDisk(_ key: CacheKey, _ request: NetworkRequest) -> StoredResponse? {
        let found = held.withLock { $0.memory.find(key, request)?.response }
        guard let disk else { return found }
        defer { survey() }
        guard let newer = disk.find(key, request, madeAfter: found?.rules.made) else { return found }
        held.withLock { $0.memory.note(newer.response, key, newer.name) }
        return newer.response
    }

    /// Returns a response with its body in memory, unless it is in a file and the request streams, needs no body, or
    /// cannot get all of it within its limit. Nil for a damaged body.
    nonisolated func readable(_ found: StoredResponse, by request: NetworkRequest) -> StoredResponse? {
        guard let file = found.file, request.readsIntoMemory, file.bodyCount <= request.limits.responseBody else {
            return found
        }
        do {
            return found.with(body: try file.read(0..<file.bodyCount))
        } catch {
            file.discard()
            return nil
        }
    }

    /// Returns the response that ``find(_:_:)`` would return, without a body on disk, and whether it is in memory.
    /// Changes nothing.
    func peek(_ key: CacheKey, _ request: NetworkRequest) -> (response: StoredResponse, isInMemory: Bool)? {
        let inMemory = held.withLock { $0.memory.peek(key, request) }
        if let inMemory, folder == nil || inMemory.variant.isEmpty { return (inMemory, true) }
        if let newer = disk?.peek(key, request, madeAfter: inMemory?.rules.made) { return (newer, false) }
        return inMemory.map { ($0, true) }
    }

    /// Returns the decoded values of a response in memory that matches a request, with its body.
    nonisolated func decoded(_ key: CacheKey, _ request: NetworkRequest) -> (values: DecodedValues, body: Data)? {
        held.withLock { $0.memory.peek(key, request) }.map { ($0.decoded, $0.body) }
    }

    /// Returns whether any variant of a key is stored.
    func holds(_ key: CacheKey) -> Bool {
        held.withLock { !$0.memory.variants(of: key).isEmpty } || disk?.holds(key) ?? false
    }

    /// Returns the entity tags of all whole variants, without repetitions: the most recently used ones first.
    func tags(of key: CacheKey) -> [String] {
        var tags: [String] = []
        let inMemory = held.withLock { $0.memory.variants(of: key) }.filter { $0.part == nil }.compactMap(\.tag)
        for tag in inMemory + (disk?.tags(of: key) ?? []) where !tags.contains(tag) { tags.append(tag) }
        return tags
    }

    /// Returns the whole variant with an entity tag, which a load may confirm.
    nonisolated func find(_ tag: String, for load: CacheLoad) async -> StoredResponse? {
        guard let found = await find(tag, load.key, load.number) else { return nil }
        return readable(found, by: load.request)
    }

    private func find(_ tag: String, _ key: CacheKey, _ number: Int) -> StoredResponse? {
        let inMemory = held.withLock { $0.memory.variants(of: key) }.first { $0.part == nil && $0.has(tag) }
        let found = inMemory ?? disk?.find(key, tag: tag)
        if let found, loads[number] != nil {
            loads[number]?.tags.formUnion(found.tags)
            if isBeingRemoved(key, found.tags) { loads[number]?.isSuperseded = true }
        }
        return found
    }
}
