#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// A body that is read from its source while it is sent, with only a few chunks in memory.
///
/// A separate task pulls chunks, and waits while the buffer is full. libcurl is paused while the buffer is empty.
final class CurlUpload: Sendable {
    /// The result of reading the body.
    enum Piece {
        case bytes(Int)
        /// No bytes are buffered yet. The exchange resumes when some are.
        case later
        case end
        case failure(CurlFailure)
    }

    /// Whether a socket accepts bytes: now, after its buffer has space, or never again.
    enum Flow { case ready, blocked, broken }

    private struct State {
        var chunks: [Data] = []
        var offset = 0  // in the first chunk
        /// The number of bytes that are buffered, or were when the upload stopped.
        var buffered = 0
        var sentCount: Int64 = 0
        var isEnded = false
        var failure: CurlFailure?
        /// Whether libcurl is paused because no bytes are buffered.
        var isReaderWaiting = false
        /// The task of the source, while the buffer is full.
        var waitingSource: CheckedContinuation<Void, Never>?
        var isStopped = false
        var pump: Task<Void, Never>?
        /// The exchange that sends the body. Nil before ``start(_:for:)`` and after ``stop()``.
        var exchange: CurlExchange?
        /// Whether the bytes wait for the 101, because the exchange may take the connection from libcurl.
        var isWaitingForUpgrade = false
        /// The socket to send to instead of libcurl, or -1.
        var socket: Int32 = -1
        var flow = Flow.ready

        /// Returns the exchange to resume because libcurl waits, once.
        mutating func takeReader() -> CurlExchange? {
            defer { isReaderWaiting = false }
            return isReaderWaiting ? exchange : nil
        }

        mutating func takeWaitingSource() -> CheckedContinuation<Void, Never>? {
            defer { waitingSource = nil }
            return waitingSource
        }

        /// Buffers a chunk. Small chunks become one, because each one costs a callback, or a system call.
        mutating func append(_ chunk: Data) {
            buffered += chunk.count
            guard let size = chunks.last?.count, size + chunk.count <= 16 << 10 else { return chunks.append(chunk) }
            chunks[chunks.count - 1].append(chunk)
        }

        /// Removes bytes that were read from the first chunk.
        mutating func take(_ count: Int) {
            offset += count
            sentCount += Int64(count)
            buffered -= count
            guard offset == chunks[0].count else { return }
            chunks.removeFirst()
            offset = 0
        }

        /// Sends buffered bytes until the socket's buffer is full.
        mutating func flush() {
            guard socket >= 0 else { return }
            flow = .ready
            while let chunk = chunks.first {
                let count = chunk.withUnsafeBytes { bytes in
                    bytes.baseAddress.map { swcurl_socket_send(socket, $0 + offset, bytes.count - offset) } ?? 0
                }
                guard count <= 0 else {
                    take(count)
                    continue
                }
                flow = count == -Int(EAGAIN) ? .blocked : .broken
                // The reader gets a permanent error after the bytes that arrived before.
                if flow == .broken { socket = -1 }
                return
            }
        }

        /// Sends the buffered bytes over the socket. Returns the exchange to resume: without a socket, so that libcurl
        /// reads them, or with a full or broken socket. Nil if nothing must be resumed.
        mutating func sendBuffered() -> CurlExchange? {
            guard socket >= 0 else { return takeReader() }
            guard flow == .ready else { return nil }
            flush()
            return flow == .ready ? nil : exchange
        }
    }

    private let length: Int64?
    private let isUpgrade: Bool
    private let state = Protected(State())
    /// The number of buffered bytes at which the source waits.
    private let highWaterMark: Int

    /// Creates an upload. The source of an upgraded connection waits until its chunk is sent, so that a sender knows
    /// when its message is on the network. Other sources prepare chunks ahead.
    init(length: Int64?, isUpgrade: Bool, isWaitingForUpgrade: Bool) {
        self.length = length
        state.withLock { $0.isWaitingForUpgrade = isWaitingForUpgrade }
        self.isUpgrade = isUpgrade
        highWaterMark = isUpgrade ? 64 << 10 : 1 << 20
    }

    /// Starts to read the source, in a task that inherits the caller's task-local values.
    func start(
        _ pump: @escaping @Sendable (_ send: @Sendable (Data) async -> Bool) async throws -> Void,
        for exchange: CurlExchange
    ) {
        state.withLock { if !$0.isStopped { $0.exchange = exchange } }
        let task = Task {
            do {
                try await pump { await self.send($0) }
                finish(nil)
            } catch {
                finish(.body(error))
            }
        }
        let isStopped = state.withLock { state in
            if !state.isStopped { state.pump = task }
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    /// Buffers a chunk, once space is free. Returns false when no more chunks are needed. An upgraded connection that ends
    /// returns whether the chunk was sent.
    private func send(_ chunk: Data) async -> Bool {
        if !isUpgrade { await waitForSpace() }
        let (isWanted, reader) = state.withLock { state -> (Bool, CurlExchange?) in
            guard !state.isStopped else { return (false, nil) }
            guard !chunk.isEmpty else { return (true, nil) }  // libcurl would take it for the end
            state.append(chunk)
            return (true, state.sendBuffered())
        }
        reader?.requestResume()
        guard isUpgrade, isWanted else { return isWanted }
        await waitForSpace()
        return state.withLock { !$0.isStopped || $0.buffered == 0 }
    }

    private func waitForSpace() async {
        await withCheckedContinuation { continuation in
            let hasSpace = state.withLock { state in
                guard !state.isStopped, state.buffered >= highWaterMark, !state.isReaderWaiting else { return true }
                state.waitingSource = continuation
                return false
            }
            if hasSpace { continuation.resume() }
        }
    }

    /// Ends the body after the chunks so far.
    func finish(_ failure: CurlFailure?) {
        let reader = state.withLock { state -> CurlExchange? in
            guard !state.isStopped else { return nil }
            state.isEnded = true
            state.failure = failure
            return state.takeReader()
        }
        reader?.requestResume()
    }

    /// The number of bytes that libcurl or the socket has accepted.
    var sentCount: Int64 { state.withLock { $0.sentCount } }

    // MARK: Over a socket

    /// Tries to send bytes over the socket on this thread. Returns false and sends nothing without a socket, or if
    /// earlier bytes are buffered.
    func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isSent, reader) = state.withLock { state -> (Bool, CurlExchange?) in
            guard state.socket >= 0, state.chunks.isEmpty, !state.isStopped, let start = bytes.baseAddress else {
                return (false, nil)
            }
            let count = max(0, swcurl_socket_send(state.socket, start, bytes.count))
            state.sentCount += Int64(count)
            guard count < bytes.count else { return (true, nil) }
            state.append(Data(bytes[count...]))
            return (true, state.sendBuffered())
        }
        reader?.requestResume()
        return isSent
    }

    /// Starts to send after the response: over the socket, or through libcurl if `socket` is -1.
    func startSending(to socket: Int32) {
        let reader = state.withLock { state in
            state.isWaitingForUpgrade = false
            if socket >= 0, !state.isStopped { (state.socket, state.isReaderWaiting) = (socket, false) }
            return state.chunks.isEmpty && !state.isEnded ? nil : state.sendBuffered()
        }
        reader?.requestResume()
    }

    /// Sends buffered bytes until the socket's buffer is full.
    func flush() -> Flow {
        let (flow, waitingSource) = state.withLock { state in
            state.flush()
            return (state.flow, state.buffered < highWaterMark / 2 ? state.takeWaitingSource() : nil)
        }
        waitingSource?.resume()
        return flow
    }

    // MARK: On the loop's thread

    /// Copies the next buffered bytes into the buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, waitingSource) = state.withLock { state -> (Piece, CheckedContinuation<Void, Never>?) in
            guard !state.isWaitingForUpgrade, let chunk = state.chunks.first else {
                return (pieceWithoutBytes(&state), nil)
            }
            let left = chunk.count - state.offset
            let count = min(buffer.count, left)
            if let length, state.sentCount + Int64(left) >= length {
                // libcurl reads only the announced length, so the last of it waits until the source has ended.
                if state.sentCount + Int64(left) > length || state.chunks.count > 1 {
                    return (.failure(.wrongBodyLength("more than the \(length) bytes")), nil)
                }
                if let failure = state.failure { return (.failure(failure), nil) }
                guard state.isEnded else {
                    state.isReaderWaiting = true
                    return (.later, state.takeWaitingSource())  // the source must show whether more follows
                }
            }
            let start = chunk.startIndex + state.offset
            chunk.copyBytes(to: buffer, from: start..<start + count)
            state.take(count)
            return (.bytes(count), state.buffered < highWaterMark / 2 ? state.takeWaitingSource() : nil)
        }
        waitingSource?.resume()
        return piece
    }

    /// Returns the result of a read when no bytes may be read.
    private func pieceWithoutBytes(_ state: inout State) -> Piece {
        if let failure = state.failure { return .failure(failure) }
        guard state.isEnded, !state.isWaitingForUpgrade else {
            state.isReaderWaiting = true
            return .later
        }
        if let length, state.sentCount < length {
            return .failure(.wrongBodyLength("\(state.sentCount) of the \(length) bytes"))
        }
        return .end
    }

    /// Ends the source, and releases the buffered bytes.
    func stop() {
        // Releases the exchange outside of the lock too, because the exchange may hold the last reference to this upload.
        let (pump, waitingSource, rest) = state.withLock { state in
            (state.isStopped, state.socket) = (true, -1)
            // The number of unsent bytes stays for ``send(_:)``.
            defer { (state.pump, state.chunks, state.exchange) = (nil, [], nil) }
            return (state.pump, state.takeWaitingSource(), (state.chunks, state.exchange))
        }
        defer { withExtendedLifetime(rest) {} }
        pump?.cancel()
        waitingSource?.resume()
    }
}
#endif
