import Switchboard
import SwitchboardPlatform

extension CacheStorage {
    /// Returns the most recent response in memory that matches a request, or else the owner of the key if it is known,
    /// and the number of removals. Once a second, it looks at the folder: a response whose file another cache removed is
    /// removed too.
    nonisolated func findInMemory(
        _ key: CacheKey, _ request: NetworkRequest
    ) -> (found: StoredResponse?, owner: CacheOwner?, removals: Int) {
        var (hit, owner, removals, isDue) = held.withLock { held in
            let hit = held.memory.find(key, request)
            let owner = hit == nil ? held.owner(of: key) : nil
            return (hit, owner, held.removals, hit?.file != nil && held.memory.isLookDue(at: CacheTime.now))
        }
        guard let folder else { return (hit?.response, owner, removals) }
        if isDue {
            let changed = folder.settledChange
            hit = held.withLock { held in
                held.memory.noteFolder(changed: changed)
                return held.memory.find(key, request)
            }
        }
        guard let file = hit?.file, hit?.isUnseen ?? false, !folder.contains(file) else {
            return (hit?.response, owner, removals)
        }
        return held.withLock { held in
            held.memory.remove(key, file: file)
            return (held.memory.find(key, request)?.response, nil, held.removals)
        }
    }

    /// Returns the name of the file of a response without `Vary`, whose owner may be known.
    nonisolated func name(of key: CacheKey, _ known: CacheOwner?) -> CacheFileName? {
        if let known { return CacheFileName(key, known) }
        guard let owner = try? CacheOwner(key.identity) else { return nil }
        held.withLock { $0.owner = (key.identity, owner) }
        return CacheFileName(key, owner)
    }
}
