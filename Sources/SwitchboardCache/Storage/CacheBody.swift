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
    /// Whether the body has no reader. It then ends when it cannot be stored.
    var isOnlyStored = false
    /// Receives the outcome.
    let report: @Sendable (String) -> Void

    /// The response whose head begins a file. It is a part if the body may become one.
    var draft: StoredResponse { keepsTruncated ? response.with(part: CachePart.unknown) : response }

    /// Ends the load: stores the whole, or the bytes that have arrived.
    func finish(_ sink: Sink, isTruncated: Bool) async {
        guard let count = sink.count else {
            await storage.end(load, isReplaced: !isTruncated, unstored: response)
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
            let finished = Result {
                try draft.finish(keepsTruncated ? part?.numbers ?? [count, 0, count] : nil)
                return draft
            }.mapError(CacheRefusal.onDisk)
            fault = await storage.commit(response.with(part: part), at: load, finished, isStream: true)
        case .memory(let data, _):
            fault = await storage.commit(response.with(part: part, body: data), at: load, nil, isStream: true)
        case .none: fault = nil
        }
        report(fault?.event ?? (isWhole ? "stored" : "stored, \(count) bytes that arrived"))
    }
}

/// Stores a body while it is read. If the body ends early, the first bytes are stored if they can be completed.
final class CacheTee: ResponseBytes.Source {
    private let bytes: ResponseBytes
    private let body: CacheBody
    let request: NetworkRequest?
    /// The bytes that have arrived. Nil after the end.
    private let sink: Protected<CacheBody.Sink?>
    /// True until the preceding stored bytes are added.
    private let needsStart: Protected<Bool>

    init(_ bytes: ResponseBytes, _ body: CacheBody, _ sink: CacheBody.Sink, _ request: NetworkRequest?) {
        self.bytes = bytes
        self.body = body
        self.request = request
        self.sink = Protected(sink)
        needsStart = Protected(body.start != nil)
    }

    deinit {
        guard let sink = sink.swap(nil) else { return }
        Task { [body, hasStart = !needsStart.withLock { $0 }] in
            await body.finish(hasStart ? sink : .none(""), isTruncated: true)
        }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { bytes.result }
    var storedCount: Int64 { bytes.storedCount }

    func next() async throws -> Data? {
        do {
            await addStart()
            guard !isUseless, let chunk = try await bytes.next() else {
                if let sink = sink.swap(nil) { await body.finish(sink, isTruncated: false) }
                return nil
            }
            append {
                try $0.append(chunk)
            } toMemory: {
                $0.append(chunk)
            }
            return chunk
        } catch {
            // Frees the file before the reader receives the error.
            if let sink = sink.swap(nil) { await body.finish(sink, isTruncated: true) }
            throw error
        }
    }

    /// Whether the rest of the body is useless: it has no reader, and it cannot be stored.
    private var isUseless: Bool { body.isOnlyStored && sink.withLock { $0?.count == nil } }

    /// Copies the stored bytes that precede the arriving ones.
    private func addStart() async {
        guard let (part, count) = body.start, needsStart.swap(false) else { return }
        guard let file = part.file else {
            let first = part.body.prefix(count)
            return append {
                try $0.append(first)
            } toMemory: {
                $0.append(first)
            }
        }
        let step = 16 * CacheFile.blockSize
        for start in stride(from: 0, to: count, by: step) {
            append {
                try $0.append(file.checked(start..<min(start + step, count)))
            } toMemory: { _ in
            }
            await Task.yield()
        }
    }

    private func append(_ toFile: (CacheDraft) throws -> Void, toMemory: (inout Data) -> Void) {
        sink.withLock { sink in
            switch sink {
            case .file(let draft):
                do {
                    try toFile(draft)
                } catch {
                    sink = CacheBody.Sink.none(.onDisk(error))
                }
            case .memory(var data, let limit):
                sink = CacheBody.Sink.none("it is too large for memory")  // the only reference
                toMemory(&data)
                if data.count <= limit { sink = .memory(data, limit) }
            case .some(.none), nil: break
            }
        }
    }
}

extension CacheStorage {
    /// Returns a body that is stored while it is read: on disk or, without a folder, in memory if it is small.
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
            do {
                let draft = try DiskCache.draft(body.draft, key, in: folder, limit: limits.disk)
                draft.lock()
                sink = body.size ?? 0 <= draft.room ? .file(draft) : .none(.onDisk("it is larger than the cache"))
            } catch {
                sink = .none(error)
            }
        } else {
            let limit = limits.memory / 8
            sink = body.size ?? 0 <= limit ? .memory(Data(), limit) : .none("it is too large for memory")
        }
        return ResponseBytes(CacheTee(bytes, body, sink, await bytes.request))
    }
}
