import Foundation
import Switchboard

/// The body of a response that is stored while it is read, and the end of its load.
struct CacheBody: Sendable {
    /// The bytes that have arrived.
    enum Sink: Sendable {
        case file(CacheDraft)
        case memory(Data, _ limit: Int)
        /// The body is not stored, for this reason.
        case none(CacheRefusal)

        /// The number of bytes, or nil for a body that is not stored.
        var count: Int? {
            switch self {
            case .file(let draft): draft.bodyCount
            case .memory(let data, _): data.count
            case .none: nil
            }
        }
    }

    /// The response without its body.
    let response: StoredResponse
    let storage: CacheStorage
    /// The number of the load, which ends with the body.
    let load: Int
    /// The announced size of the whole, or nil when it is unknown.
    let size: Int?
    /// The announced position of the last byte that arrives, plus one. Nil when it is unknown.
    let end: Int?
    /// Whether the first bytes are stored when the body ends early.
    let keepsTruncated: Bool
    /// The stored part whose first bytes precede the ones that arrive, and the number of these bytes. Nil for a body
    /// that arrives from its first byte on.
    var start: (part: StoredResponse, count: Int)?
    /// Whether the body has no reader. Reading then ends when the body cannot be stored.
    var isOnlyStored = false
    let report: @Sendable (String) -> Void

    /// The response whose head begins a file. It is a part if the body may become one.
    var draft: StoredResponse { keepsTruncated ? response.with(part: CachePart.unknown) : response }

    /// Ends the load: stores the whole, or the bytes that have arrived.
    func finish(_ sink: Sink, isTruncated: Bool) async {
        guard let count = sink.count else {
            await storage.end(load, replacedBy: isTruncated ? nil : response.headers, unstored: response)
            if !isTruncated, case .none(let reason) = sink { report(reason.event) }
            return
        }
        guard isTruncated || count == end ?? count else {
            await storage.end(load)
            return report("not stored: its length is not the announced one")
        }
        // Without an announced size, a body that ended is whole.
        let isWhole = count == size ?? (isTruncated ? -1 : count)
        let part = isWhole ? nil : CachePart(0..<count, of: size)
        guard !isTruncated || keepsTruncated, isWhole || part != nil else { return await storage.end(load) }
        let fault: CacheRefusal?
        switch sink {
        case .file(let draft):
            do {
                try draft.finish(keepsTruncated ? part?.numbers ?? [count, 0, count] : nil)
            } catch {
                // The body is neither in memory nor in a whole file.
                await storage.end(load, replacedBy: isTruncated ? nil : response.headers, unstored: response)
                return report(CacheRefusal.onDisk(error).event)
            }
            fault = await storage.commit(response.with(part: part), at: load, .success(draft), isStream: true)
        case .memory(let data, _):
            fault = await storage.commit(response.with(part: part, body: data), at: load, nil, isStream: true)
        case .none: fault = nil
        }
        report(fault?.event ?? (isWhole ? "stored" : "stored, \(count) bytes that arrived"))
    }
}
