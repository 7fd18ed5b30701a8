import SwitchboardPlatform
import Foundation
import Switchboard

/// A body that is stored while it is read. Nothing is stored unless it is read to its end.
final class CacheTee: ResponseBytes.Source {
    /// The part of the body that has arrived.
    enum Sink: Sendable {
        case file(CacheDraft)
        case memory(Data, _ limit: Int)
        /// The body is not stored, for this reason.
        case none(String)
    }

    private let bytes: ResponseBytes
    private let response: StoredResponse
    private let storage: CacheStorage
    private let load: Int
    private let size: Int?
    let request: NetworkRequest?
    private let report: @Sendable (String) -> Void
    /// The part that has arrived. Nil after the end.
    private let sink: Protected<Sink?>

    init(
        _ bytes: ResponseBytes, _ response: StoredResponse, _ storage: CacheStorage, _ load: Int, _ size: Int?,
        _ sink: Sink, _ request: NetworkRequest?, _ report: @escaping @Sendable (String) -> Void
    ) {
        self.bytes = bytes
        self.response = response
        self.storage = storage
        self.load = load
        self.size = size
        self.sink = Protected(sink)
        self.request = request
        self.report = report
    }

    deinit {
        guard sink.swap(nil) != nil else { return }
        Task { [storage, load] in await storage.end(load) }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { bytes.result }

    func next() async throws -> Data? {
        do {
            guard let chunk = try await bytes.next() else {
                await end()
                return nil
            }
            append(chunk)
            return chunk
        } catch {
            // Frees the file before the reader receives the error.
            if sink.swap(nil) != nil { await storage.end(load) }
            throw error
        }
    }

    private func append(_ chunk: Data) {
        sink.withLock { sink in
            switch sink {
            case .file(let draft):
                do {
                    try draft.append(chunk)
                } catch {
                    sink = Sink.none("not stored on disk: \(DiskFault(error).text)")
                }
            case .memory(var data, let limit):
                guard data.count + chunk.count <= limit else {
                    sink = Sink.none("not stored: it is too large for memory")
                    return
                }
                sink = Sink.none("")  // the only reference
                data.append(chunk)
                sink = .memory(data, limit)
            case .some(.none), nil: break
            }
        }
    }

    private func end() async {
        guard let sink = sink.swap(nil) else { return }
        let fault: String?
        switch sink {
        case .file(let draft) where fits(draft.bodyCount):
            let finished = Result {
                try draft.finish()
                return draft
            }.mapError(DiskFault.init)
            fault = await storage.place(response, at: load, finished)
        case .memory(let data, _) where fits(data.count):
            fault = await storage.place(response.with(body: data), at: load, nil)
        case .none(let reason):
            await storage.end(load, isReplaced: true)
            fault = reason
        default:
            await storage.end(load)
            fault = "not stored: its length is not the announced one"
        }
        report(fault ?? "stored")
    }

    private func fits(_ count: Int) -> Bool { size.map { $0 == count } ?? true }
}
