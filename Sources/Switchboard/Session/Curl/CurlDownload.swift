#if os(Linux)
import SwitchboardPlatform
import Foundation

/// A response's body between libcurl and its reader: holds a little, then makes libcurl wait.
///
/// The exchange holds it. Callers pass the exchange in, and each method resumes a continuation last.
final class CurlDownload: Sendable {
    typealias End = Result<(trailers: HTTPHeaders, metrics: ExchangeMetrics), NetworkError>

    private struct State {
        var buffer = Data()
        var isPaused = false
        var isResuming = false  // asked for, and not done yet
        var isClosed = false
        var end: End?
        var reader: UnsafeContinuation<Data?, any Error>?

        /// What is held, and whether libcurl is to go on now that there is room.
        mutating func takeAll() -> (Data, mustResume: Bool) {
            defer {
                buffer = Data()
                isResuming = isPaused
            }
            return (buffer, isPaused && !isResuming)
        }
    }

    private let state = Protected(State())
    private static let enough = 512 << 10

    // MARK: On the loop's thread

    /// Whether libcurl waits for the reader.
    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Notes that libcurl goes on.
    func didResume() {
        state.withLock { state in
            state.isPaused = false
            state.isResuming = false
        }
    }

    /// What became of a piece.
    enum Reception {
        case kept
        /// Kept, and a reader waits for it: ``deliver(for:)`` is to follow.
        case awaited
        /// Not taken: the reader has enough for now.
        case full
    }

    func offer(_ bytes: UnsafeRawBufferPointer) -> Reception {
        state.withLock { state in
            guard !state.isClosed else { return .kept }
            guard state.buffer.count < Self.enough else {
                state.isPaused = true
                return .full
            }
            let isFirst = state.buffer.isEmpty
            state.buffer.append(contentsOf: bytes)
            return isFirst && state.reader != nil ? .awaited : .kept
        }
    }

    /// Gives what has come to the reader that waits for it.
    func deliver(for exchange: CurlExchange) {
        let (reader, chunk, mustResume) = state.withLock {
            state -> (UnsafeContinuation<Data?, any Error>?, Data, Bool) in
            guard let reader = state.reader, !state.buffer.isEmpty else { return (nil, Data(), false) }
            state.reader = nil
            let (chunk, mustResume) = state.takeAll()
            return (reader, chunk, mustResume)
        }
        if mustResume { exchange.requestResume() }
        reader?.resume(returning: chunk)
    }

    /// Notes the end. What is held can still be read.
    func end(_ end: End) {
        let (reader, chunk) = state.withLock { state -> (UnsafeContinuation<Data?, any Error>?, Data?) in
            state.end = end
            guard let reader = state.reader else { return (nil, nil) }
            state.reader = nil
            return (reader, state.buffer.isEmpty ? nil : state.takeAll().0)
        }
        switch end {
        case _ where chunk != nil: reader?.resume(returning: chunk)
        case .success: reader?.resume(returning: nil)
        case .failure(let error): reader?.resume(throwing: error)
        }
    }

    // MARK: The reader

    /// Gives the continuation the next chunk, once there is one.
    func read(_ continuation: UnsafeContinuation<Data?, any Error>, for exchange: CurlExchange) {
        enum Outcome { case chunk(Data), end(End), cancelled, waiting }
        let (outcome, mustResume) = state.withLock { state -> (Outcome, Bool) in
            guard !state.isClosed else { return (.cancelled, false) }
            guard state.buffer.isEmpty else {
                let (chunk, mustResume) = state.takeAll()
                return (.chunk(chunk), mustResume)
            }
            if let end = state.end { return (.end(end), false) }
            state.reader = continuation
            return (.waiting, false)
        }
        if mustResume { exchange.requestResume() }
        switch outcome {
        case .chunk(let chunk): continuation.resume(returning: chunk)
        case .end(.success): continuation.resume(returning: nil)
        case .end(.failure(let error)): continuation.resume(throwing: error)
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .waiting: break
        }
    }

    /// The trailers and figures, once the whole body has come.
    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? {
        guard case .success(let result)? = state.withLock({ $0.end }) else { return nil }
        return result
    }

    /// Ends the exchange, if it has not ended, and what the reader waits for.
    func close(_ exchange: CurlExchange) {
        let (reader, isOver) = state.withLock { state in
            state.isClosed = true
            state.buffer = Data()
            defer { state.reader = nil }
            return (state.reader, state.end != nil)
        }
        if !isOver { exchange.cancel() }
        reader?.resume(throwing: CancellationError())
    }
}

/// The reader's end of a download: letting go of it ends the exchange.
final class CurlBytes: ResponseBytes.Source {
    private let download: CurlDownload
    private let exchange: CurlExchange
    private let engine: CurlEngine  // which must outlive the exchange

    init(_ download: CurlDownload, _ exchange: CurlExchange, _ engine: CurlEngine) {
        self.download = download
        self.exchange = exchange
        self.engine = engine
    }

    deinit {
        download.close(exchange)
    }

    func next() async throws -> Data? {
        try await withCancellation {
            try await withUnsafeThrowingContinuation { download.read($0, for: exchange) }
        } onCancel: { [download, exchange] in
            download.close(exchange)
        }
    }

    var result: (trailers: HTTPHeaders, metrics: ExchangeMetrics)? { download.result }
}
#endif
