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
        var buffered = 0
        /// Whether the last chunk of the source is not confirmed.
        var isUnconfirmed = false
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

        /// Whether fewer bytes than this are buffered, and the socket is not broken.
        func accepts(below mark: Int) -> Bool { buffered < mark && flow != .broken }

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
    /// Confirms that a chunk of the source is sent, except for the last bytes in the buffer.
    private let onConfirm: CurlRequest.Confirmation?
    private let state = Protected(State())
    private let highWaterMark: Int

    /// Creates an upload. The source of an upgraded connection waits until its chunk is sent, so that a sender knows
    /// when its message is on the network. Other sources prepare chunks ahead.
    init(length: Int64?, isUpgrade: Bool, isPlain: Bool, onConfirm: CurlRequest.Confirmation?) {
        self.length = length
        self.onConfirm = onConfirm
        state.withLock { $0.isWaitingForUpgrade = isUpgrade && isPlain }
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

    /// Buffers a chunk, once space is free. Returns false when no more chunks are needed. For an upgraded connection, false
    /// also means that the chunk may be unsent.
    private func send(_ chunk: Data) async -> Bool {
        if !isUpgrade { await waitForSpace() }
        let (isWanted, reader, sender) = state.withLock { state -> (Bool, CurlExchange?, Sender?) in
            guard !state.isStopped else { return (false, nil, nil) }
            guard !chunk.isEmpty else { return (true, nil, nil) }  // libcurl would take it for the end
            state.append(chunk)
            state.isUnconfirmed = true
            let reader = state.sendBuffered()
            return (true, reader, confirm(&state))
        }
        reader?.requestResume()
        sender?.resume()
        guard isUpgrade else { return isWanted }
        await waitForSpace()
        return isWanted && state.withLock { !($0.isStopped && $0.isUnconfirmed) }
    }

    private typealias Sender = CheckedContinuation<Void, any Error>

    /// Confirms the last chunk, under the lock: a server that has received it may end the connection at once, and its end
    /// takes the lock before it reaches the reader. Returns the sender to resume without the lock.
    private func confirm(_ state: inout State) -> Sender? {
        guard state.isUnconfirmed, !state.isStopped, state.accepts(below: highWaterMark) else { return nil }
        state.isUnconfirmed = false
        return onConfirm?()
    }

    /// Returns the source to resume when the buffer has space again.
    private func takeWaitingSource(_ state: inout State) -> CheckedContinuation<Void, Never>? {
        state.accepts(below: highWaterMark / 2) ? state.takeWaitingSource() : nil
    }

    private func waitForSpace() async {
        await withCheckedContinuation { continuation in
            let hasSpace = state.withLock { state in
                // A paused libcurl needs more bytes than the buffer has, except that before an upgrade it waits for
                // the 101.
                let isReaderWaiting = state.isReaderWaiting && !isUpgrade
                guard !state.isStopped, !state.accepts(below: highWaterMark), !isReaderWaiting else { return true }
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
            if !isUpgrade { state.pump = nil }  // it calls this at its end
            return state.takeReader()
        }
        reader?.requestResume()
    }

    /// The number of bytes that libcurl or the socket has accepted.
    var sentCount: Int64 { state.withLock { $0.sentCount } }

    // MARK: Over a socket

    /// Tries to send bytes over the socket on this thread. Returns false and sends nothing without a socket, over a broken
    /// one, or if earlier bytes are buffered.
    func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isSent, reader) = state.withLock { state -> (Bool, CurlExchange?) in
            guard state.socket >= 0, state.chunks.isEmpty, !state.isStopped, let start = bytes.baseAddress else {
                return (false, nil)
            }
            let result = swcurl_socket_send(state.socket, start, bytes.count)
            guard result >= 0 || result == -Int(EAGAIN) else { return (false, nil) }
            let count = max(0, result)
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
        let (reader, waitingSource, sender) = state.withLock { state in
            state.isWaitingForUpgrade = false
            if socket >= 0, !state.isStopped { (state.socket, state.isReaderWaiting) = (socket, false) }
            let reader = state.chunks.isEmpty && !state.isEnded ? nil : state.sendBuffered()
            return (reader, takeWaitingSource(&state), confirm(&state))
        }
        reader?.requestResume()
        waitingSource?.resume()
        sender?.resume()
    }

    /// Sends buffered bytes until the socket's buffer is full.
    func flush() -> Flow {
        let (flow, waitingSource, sender) = state.withLock { state in
            state.flush()
            return (state.flow, takeWaitingSource(&state), confirm(&state))
        }
        waitingSource?.resume()
        sender?.resume()
        return flow
    }

    // MARK: Reading and ending

    /// Copies the next buffered bytes into the buffer, under the poller's lock.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        var sender: Sender?
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
            sender = confirm(&state)
            return (.bytes(count), takeWaitingSource(&state))
        }
        waitingSource?.resume()
        sender?.resume()
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
            defer { (state.pump, state.chunks, state.buffered, state.exchange) = (nil, [], 0, nil) }
            return (state.pump, state.takeWaitingSource(), (state.chunks, state.exchange))
        }
        defer { withExtendedLifetime(rest) {} }
        // The cancellation handlers of the app's source must not run under the poller's lock, which the caller may hold.
        if let pump { DispatchQueue.global().async { pump.cancel() } }
        waitingSource?.resume()
    }
}
#endif
