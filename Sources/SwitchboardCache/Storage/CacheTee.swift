import SwitchboardPlatform
import Foundation
import Switchboard

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
            append(chunk)
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
        guard let file = part.file else { return append(part.body.prefix(count)) }
        let step = 16 * CacheFile.blockSize
        for start in stride(from: 0, to: count, by: step) {
            append(try file.checked(start..<min(start + step, count)))
            await Task.yield()
        }
    }

    private func append(_ bytes: @autoclosure () throws -> Data) {
        sink.withLock { sink in
            do {
                switch sink {
                case .file(let draft): try draft.append(bytes())
                case .memory(var data, let limit):
                    sink = CacheBody.Sink.none("it is too large for memory")  // the only reference
                    data.append(try bytes())
                    if data.count <= limit { sink = .memory(data, limit) }
                case .some(.none), nil: break
                }
            } catch {
                sink = CacheBody.Sink.none(.onDisk(error))
            }
        }
    }
}

extension CacheStorage {
    /// Returns the arriving bytes for the reader, and stores them while they are read: on disk or, if no file can be
    /// created, in memory if the body is small.
    nonisolated func storing(_ bytes: ResponseBytes, in body: CacheBody) async -> ResponseBytes {
        guard let key = await key(of: body.load) else {
            await end(body.load)
            return body.isOnlyStored ? ResponseBytes { nil } : bytes
        }
        func inMemory(else refusal: CacheRefusal) -> CacheBody.Sink {
            let limit = folder == nil ? limits.memory / 8 : min(limits.memory / 8, CacheFile.wholeLimit)
            // A stored start of the body stays in its file.
            guard body.start?.part.file == nil, body.size ?? 0 <= limit else { return .none(refusal) }
            return .memory(Data(), limit)
        }
        let sink: CacheBody.Sink
        if let folder {
            do {
                let draft = try DiskCache.draft(body.draft, key, in: folder, limit: limits.disk)
                draft.lock()
                sink = body.size ?? 0 <= draft.room ? .file(draft) : .none(.onDisk("it is larger than the cache"))
            } catch {
                sink = inMemory(else: error)
            }
        } else {
            sink = inMemory(else: "it is too large for memory")
        }
        return ResponseBytes(CacheTee(bytes, body, sink, await bytes.request))
    }
}
