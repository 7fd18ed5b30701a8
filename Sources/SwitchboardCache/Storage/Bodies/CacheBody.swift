import SwitchboardPlatform
import Foundation
import Switchboard

/// The body of a response that is stored while it is read, and the end of its load.
struct CacheBody: Sendable {
    /// The bytes that have arrived.
    enum Sink: Sendable {
        case file(CacheDraft)
        case memory(Data, _ limit: Int)
        /// The body is not stored, for this reason.
        case none(String)

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
    /// Whether the first bytes are kept when the body ends early.
    let isCutKept: Bool
    /// The stored part whose first bytes precede the ones that arrive, and the number of these bytes. Nil for a body that
    /// arrives from its first byte on.
    var start: (part: StoredResponse, count: Int)?
    /// Whether nobody reads the body, so that it ends when it cannot be stored.
    var isOnlyStored = false
    /// Receives the outcome.
    let report: @Sendable (String) -> Void

    /// The response whose head begins a file. It is a part if the body may become one.
    var draft: StoredResponse { isCutKept ? response.with(part: CacheParts.unknown) : response }

    /// Ends the load: stores the whole, or the bytes that have arrived.
    func finish(_ sink: Sink, isCut: Bool) async {
        guard let count = sink.count else {
            await storage.end(load, isReplaced: !isCut, unstored: response)
            if !isCut, case .none(let reason) = sink { report(reason) }
            return
        }
        guard isCut || count == end ?? count else {
            await storage.end(load)
            return report("not stored: its length is not the announced one")
        }
        // Without an announced size, a body that ended is whole.
        let isWhole = count == size ?? (isCut ? -1 : count)
        let parts = isWhole ? nil : CacheParts([0..<count], of: size)
        guard !isCut || isCutKept, isWhole || parts != nil else { return await storage.end(load) }
        let fault: String?
        switch sink {
        case .file(let draft):
            let finished = Result {
                try draft.finish(isCutKept ? parts?.numbers ?? [count, 0, count] : nil)
                return draft
            }.mapError(DiskFault.init)
            fault = await storage.place(response.with(part: parts), at: load, finished, isStream: true)
        case .memory(let data, _):
            fault = await storage.place(response.with(part: parts, body: data), at: load, nil, isStream: true)
        case .none: fault = nil
        }
        report(fault ?? (isWhole ? "stored" : "stored, \(count) bytes that arrived"))
    }
}
