import SwitchboardPlatform
import Foundation
import Switchboard

/// A body that is stored while it is read. Of one that ends early, the first bytes are stored if they can be completed.
final class CacheTee: ResponseBytes.Source {
    private let bytes: ResponseBytes
    private let body: CacheBody
    let request: NetworkRequest?
    /// The bytes that have arrived. Nil after the end.
    private let sink: Protected<CacheBody.Sink?>
    /// True until the stored bytes are added that precede the arriving ones.
    private let isWithoutStart: Protected<Bool>

    init(_ bytes: ResponseBytes, _ body: CacheBody, _ sink: CacheBody.Sink, _ request: NetworkRequest?) {
        self.bytes = bytes
        self.body = body
        self.request = request
        self.sink = Protected(sink)
        isWithoutStart = Protected(body.start != nil)
    }

    deinit {
        guard let sink = sink.swap(nil) else { return }
        Task { [body, hasStart = !isWithoutStart.withLock { $0 }] in
            await body.finish(hasStart ? sink : .none(""), isCut: true)
        }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { bytes.result }
    var storedCount: Int64 { bytes.storedCount }

    /// Shares the bytes of the reader's file with the cache, so that they are on disk once.
    func isAppended(to file: URL, after count: Int64) {
        let start = body.start
        guard count == Int64(start?.count ?? 0) else { return }
        sink.withLock { sink in
            guard case .file(let draft) = sink, draft.share(file.path, after: start?.part, Int(count)) else { return }
            _ = isWithoutStart.swap(false)
        }
    }

    func next() async throws -> Data? {
        do {
            await addStart()
            guard !isUseless, let chunk = try await bytes.next() else {
                if let sink = sink.swap(nil) { await body.finish(sink, isCut: false) }
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
            if let sink = sink.swap(nil) { await body.finish(sink, isCut: true) }
            throw error
        }
    }

    /// Whether the rest of the body is of no use: nobody reads it, and it cannot be stored.
    private var isUseless: Bool { body.isOnlyStored && sink.withLock { $0?.count == nil } }

    /// Copies the stored bytes that precede the arriving ones.
    private func addStart() async {
        guard let (part, count) = body.start, isWithoutStart.swap(false) else { return }
        guard let file = part.file else {
            let first = part.body.prefix(count)
            return append {
                try $0.append(first)
            } toMemory: {
                $0.append(first)
            }
        }
        let step = 16 * CacheFile.piece
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
                    sink = CacheBody.Sink.none("not stored on disk: \(DiskFault(error).text)")
                }
            case .memory(var data, let limit):
                sink = CacheBody.Sink.none("not stored: it is too large for memory")  // the only reference
                toMemory(&data)
                if data.count <= limit { sink = .memory(data, limit) }
            case .some(.none), nil: break
            }
        }
    }
}
