import SwitchboardPlatform
import Foundation

/// A streamed response's body between URLSession, which cannot be made to wait, and its reader: holds a little in
/// memory and puts what the reader has no time for into a file without a name.
final class FoundationStream: Sendable {
    private struct State {
        /// What is held, as it came, and how many bytes that is.
        var chunks: ArraySlice<Data> = []
        var held = 0
        var spill: SpillFile?
        var isClosed = false
        var end: Result<Void, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
    }

    private let state = Protected(State())
    private let limit: Int64
    /// How much is held in memory before the file is used.
    static let enough = 512 << 10
    /// How much is given to the reader at once, about. Larger pieces, made on one thread and let go of on another, leave
    /// holes in the allocator's memory that add up over a long body.
    fileprivate static let piece = 64 << 10

    /// `limit` is the most bytes that may wait for the reader.
    init(limit: Int64) {
        self.limit = limit
    }

    func write(_ chunk: Data) throws {
        let (reader, ready) = try state.withLock { state -> (CheckedContinuation<Data?, any Error>?, Data) in
            guard !state.isClosed else { return (nil, Data()) }
            if let reader = state.reader {
                state.reader = nil
                return (reader, chunk)
            }
            // Once there is something in the file all goes there, or the order would be lost.
            if state.spill?.isEmpty ?? true, state.held < Self.enough {
                state.chunks.append(chunk)
                state.held += chunk.count
            } else {
                try spill(chunk, &state)
            }
            return (nil, Data())
        }
        reader?.resume(returning: ready)
    }

    private func spill(_ chunk: Data, _ state: inout State) throws {
        let spill = try state.spill ?? SpillFile()
        state.spill = spill
        guard spill.unread + Int64(chunk.count) <= limit else {
            throw NetworkError(
                .responseTooLarge,
                reason: "\(spill.unread) bytes wait to be read, limits.downloadedFile is \(limit)")
        }
        try spill.append(chunk)
    }

    /// Notes the end. What is held can still be read.
    func end(_ end: Result<Void, any Error>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(with: end.map { nil })
    }

    /// Ends what the reader waits for, and lets go of what is held.
    func close() {
        let reader = state.withLock { state in
            state.isClosed = true
            (state.chunks, state.held) = ([], 0)
            state.spill = nil
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(throwing: CancellationError())
    }

    /// The oldest of what is held; nil when that is nothing.
    private static func takePiece(_ state: inout State) -> Data? {
        guard var piece = state.chunks.popFirst() else { return nil }
        if let next = state.chunks.first, piece.count + next.count <= Self.piece { piece.reserveCapacity(Self.piece) }
        while let next = state.chunks.first, piece.count + next.count <= Self.piece {
            piece.append(next)
            state.chunks.removeFirst()
        }
        state.held -= piece.count
        return piece
    }

    func next() async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            let ready: Result<Data?, any Error>? = state.withLock { state in
                guard !state.isClosed else { return .failure(CancellationError()) }
                if let piece = Self.takePiece(&state) { return .success(piece) }
                if let spill = state.spill, !spill.isEmpty { return Result { try spill.next() } }
                if let end = state.end { return end.map { nil } }
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(with: ready) }
        }
    }
}

/// The reader's end of a streamed response: letting go of it ends the exchange.
final class FoundationBytes: ResponseBytes.Source {
    private let stream: FoundationStream
    private let exchange: FoundationExchange

    init(_ stream: FoundationStream, _ exchange: FoundationExchange) {
        self.stream = stream
        self.exchange = exchange
    }

    deinit {
        close(stream, exchange)
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { exchange.metrics.map { ([:], $0) } }

    func next() async throws -> Data? {
        try await withCancellation {
            try await stream.next()
        } onCancel: { [stream, exchange] in
            close(stream, exchange)
        }
    }
}

private func close(_ stream: FoundationStream, _ exchange: FoundationExchange) {
    stream.close()
    exchange.cancel()
}

/// A file without a name, written at its end and read from its start. Used under its stream's lock.
private final class SpillFile: @unchecked Sendable {
    private let descriptor: Int32
    private var start: Int64 = 0
    private var end: Int64 = 0

    init() throws {
        let folder = FileManager.default.temporaryDirectory
        var name = Array(folder.appendingPathComponent("switchboard-XXXXXX").path.utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw Self.failure }
        unlink(name)
    }

    deinit {
        close(descriptor)
    }

    var unread: Int64 { end - start }
    var isEmpty: Bool { start == end }

    func append(_ data: Data) throws {
        try data.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = pwrite(
                    descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, off_t(end))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure }
                end += Int64(count)
                rest = rest.dropFirst(count)
            }
        }
    }

    func next() throws -> Data? {
        var data = Data(count: Int(min(unread, Int64(FoundationStream.piece))))
        let count = data.withUnsafeMutableBytes { buffer in
            while true {
                let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(start))
                if count >= 0 || errno != EINTR { return count }
            }
        }
        guard count > 0 else { throw Self.failure }
        start += Int64(count)
        if isEmpty {
            (start, end) = (0, 0)
            ftruncate(descriptor, 0)
        }
        return data.prefix(count)
    }

    private static var failure: NetworkError {
        NetworkError(
            .cannotWriteFile, reason: "a body that is read too slowly waits in a temporary file, which failed",
            underlying: POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO))
    }
}
