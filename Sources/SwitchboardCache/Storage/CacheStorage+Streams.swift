import Foundation
import Switchboard

extension CacheStorage {
    /// Returns a body that stores itself while it is read: on disk, or else in memory if it is small.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that arrive.
    ///   - body: The body to store.
    /// - Returns: The bytes for the reader.
    nonisolated func storing(_ bytes: ResponseBytes, in body: CacheBody) async -> ResponseBytes {
        guard let key = await key(of: body.load) else {
            await end(body.load)
            return body.isOnlyStored ? ResponseBytes { nil } : bytes
        }
        let sink: CacheBody.Sink
        if let folder {
            switch DiskCache.draft(body.draft, key, in: folder, limit: limits.disk) {
            case .success(let draft) where body.size ?? 0 <= draft.room:
                draft.lock()
                sink = .file(draft)
            case .success: sink = .none("not stored on disk: it is larger than the cache")
            case .failure(let fault): sink = .none("not stored on disk: \(fault.text)")
            }
        } else {
            let limit = limits.memory / 8
            sink = body.size ?? 0 <= limit ? .memory(Data(), limit) : .none("not stored: it is too large for memory")
        }
        return ResponseBytes(CacheTee(bytes, body, sink, await bytes.request))
    }

    /// Returns whether the stored bytes of a part's version are more than the request may hold in memory, so that they
    /// are not combined with the part.
    func isTooLarge(toBeCombinedWith response: StoredResponse, _ load: Load) -> Bool {
        guard response.part != nil, let current = findOnDisk(load.key, load.request), let file = current.file else {
            return false
        }
        return file.bodyCount > load.request.limits.responseBody && current.isSameVersion(as: response)
    }

    /// Returns whether what is stored has the same strong validator as the answer to a load.
    func isStored(itsVersion answer: StoredResponse, _ load: Load) -> Bool {
        findOnDisk(load.key, load.request)?.isSameVersion(as: answer) ?? false
    }

    /// Returns whether a streamed response may replace what is stored now: a part replaces a shorter one
    /// of the same version, and a whole one replaces every part of its version.
    func mayReplace(_ load: Load, _ response: StoredResponse, _ count: Int) -> Bool {
        guard response.part != nil || load.isSuperseded else { return true }
        guard let current = findOnDisk(load.key, load.request) else { return !load.isSuperseded }
        guard let part = current.part else { return false }
        guard current.isSameVersion(as: response) else { return !load.isSuperseded }
        return response.part == nil || part.prefix < count
    }
}
