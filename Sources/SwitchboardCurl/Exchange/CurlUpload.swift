#if os(Linux)
import SwitchboardCurlC
import SwitchboardPlatform
import Foundation

/// A body that is read from its source while it is sent, with only a few chunks in memory.
///
/// A separate task pulls chunks and waits while enough are buffered. libcurl is paused while the buffer is empty.
final class CurlUpload: Sendable {
    /// The result of reading the body.
    enum Piece {
        case bytes(Int)
        /// No bytes are buffered yet. The exchange resumes when some are.
        case later
        case end
        case failure(CurlFailure)
    }

    /// Whether a socket takes bytes: now, once its buffer has space, or never again.
    enum Flow { case free, blocked, broken }

    private struct State {
        var chunks: [Data] = []
        var offset = 0  // in the first chunk
        var buffered = 0
        var given: Int64 = 0
        var isEnded = false
        var failure: CurlFailure?
        var isReaderWaiting = false
        var room: CheckedContinuation<Void, Never>?
        var isStopped = false
        var pump: Task<Void, Never>?
        /// The exchange that reads, from the start to the stop.
        var exchange: CurlExchange?
        /// Whether libcurl gets no bytes, because its connection may be taken over.
        var isWaitingForUpgrade = false
        /// The socket that takes the bytes instead of libcurl, or -1.
        var socket: Int32 = -1
        var flow = Flow.free

        /// Returns the exchange to resume because libcurl waits, once.
        mutating func takeReader() -> CurlExchange? {
            defer { isReaderWaiting = false }
            return isReaderWaiting ? exchange : nil
        }

        mutating func takeRoom() -> CheckedContinuation<Void, Never>? {
            defer { room = nil }
            return room
        }

        mutating func append(_ chunk: Data) {
            chunks.append(chunk)
            buffered += chunk.count
        }

        /// Removes bytes that were read from the first chunk.
        mutating func take(_ count: Int) {
            offset += count
            given += Int64(count)
            buffered -= count
            guard offset == chunks[0].count else { return }
            chunks.removeFirst()
            offset = 0
        }

        /// Sends what the socket takes.
        mutating func flush() {
            guard socket >= 0 else { return }
            flow = .free
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

        /// Passes an appended chunk on. Returns the exchange to resume.
        mutating func pass() -> CurlExchange? {
            guard socket >= 0 else { return takeReader() }
            guard flow == .free else { return nil }
            flush()
            return flow == .free ? nil : exchange
        }
    }

    private let length: Int64?
    private let isUpgrade: Bool
    private let state = Protected(State())
    /// The number of buffered bytes at which the source waits.
    private let enough: Int

    /// Creates an upload. The source of an upgraded connection waits until a chunk is sent, so that its sender
    /// knows when the connection has taken it. Other sources prepare chunks ahead.
    init(length: Int64?, isUpgrade: Bool, isWaitingForUpgrade: Bool) {
        self.length = length
        state.withLock { $0.isWaitingForUpgrade = isWaitingForUpgrade }
        self.isUpgrade = isUpgrade
        enough = isUpgrade ? 64 << 10 : 1 << 20
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

    /// Buffers a chunk, once space is free. Returns false when no more chunks are needed.
    private func send(_ chunk: Data) async -> Bool {
        if !isUpgrade { await waitForRoom() }
        let (isWanted, reader) = state.withLock { state -> (Bool, CurlExchange?) in
            guard !state.isStopped else { return (false, nil) }
            guard !chunk.isEmpty else { return (true, nil) }  // libcurl would take it for the end
            state.append(chunk)
            return (true, state.pass())
        }
        reader?.requestResume()
        if isUpgrade { await waitForRoom() }
        return isWanted
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let isRoom = state.withLock { state in
                guard !state.isStopped, state.buffered >= enough, !state.isReaderWaiting else { return true }
                state.room = continuation
                return false
            }
            if isRoom { continuation.resume() }
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

    /// The number of bytes that were passed on.
    var given: Int64 { state.withLock { $0.given } }

    // MARK: Over a socket

    /// Sends bytes at once over the socket. Returns false, and sends nothing, without a socket or when others wait.
    func sendAtOnce(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let (isSent, reader) = state.withLock { state -> (Bool, CurlExchange?) in
            guard state.socket >= 0, state.chunks.isEmpty, !state.isStopped, let start = bytes.baseAddress else {
                return (false, nil)
            }
            let count = max(0, swcurl_socket_send(state.socket, start, bytes.count))
            state.given += Int64(count)
            guard count < bytes.count else { return (true, nil) }
            state.append(Data(bytes[count...]))
            return (true, state.pass())
        }
        reader?.requestResume()
        return isSent
    }

    /// Ends the wait for a socket: sends over this one, or through libcurl if it is -1.
    func release(to socket: Int32) {
        let reader = state.withLock { state in
            state.isWaitingForUpgrade = false
            if socket >= 0, !state.isStopped { (state.socket, state.isReaderWaiting) = (socket, false) }
            return state.chunks.isEmpty && !state.isEnded ? nil : state.pass()
        }
        reader?.requestResume()
    }

    /// Sends what the socket takes.
    func flush() -> Flow {
        let (flow, room) = state.withLock { state in
            state.flush()
            return (state.flow, state.buffered < enough / 2 ? state.takeRoom() : nil)
        }
        room?.resume()
        return flow
    }

    // MARK: On the loop's thread

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, room) = state.withLock { state -> (Piece, CheckedContinuation<Void, Never>?) in
            guard !state.isWaitingForUpgrade, let chunk = state.chunks.first else { return (atEnd(&state), nil) }
            let left = chunk.count - state.offset
            let count = min(buffer.count, left)
            if let length, state.given + Int64(left) >= length {
                // libcurl reads only the announced length, so the last of it waits until the source has ended.
                if state.given + Int64(left) > length || state.chunks.count > 1 {
                    return (.failure(.wrongBodyLength("more than the \(length) bytes")), nil)
                }
                if let failure = state.failure { return (.failure(failure), nil) }
                guard state.isEnded else {
                    state.isReaderWaiting = true
                    return (.later, state.takeRoom())  // the source must show whether more follows
                }
            }
            let start = chunk.startIndex + state.offset
            chunk.copyBytes(to: buffer, from: start..<start + count)
            state.take(count)
            return (.bytes(count), state.buffered < enough / 2 ? state.takeRoom() : nil)
        }
        room?.resume()
        return piece
    }

    private func atEnd(_ state: inout State) -> Piece {
        if let failure = state.failure { return .failure(failure) }
        guard state.isEnded, !state.isWaitingForUpgrade else {
            state.isReaderWaiting = true
            return .later
        }
        if let length, state.given < length {
            return .failure(.wrongBodyLength("\(state.given) of the \(length) bytes"))
        }
        return .end
    }

    /// Releases the source.
    func stop() {
        // Releases the exchange outside of the lock too: it may hold the last reference to this upload.
        let (pump, room, rest) = state.withLock { state in
            (state.isStopped, state.socket) = (true, -1)
            defer { (state.pump, state.chunks, state.buffered, state.exchange) = (nil, [], 0, nil) }
            return (state.pump, state.takeRoom(), (state.chunks, state.exchange))
        }
        defer { withExtendedLifetime(rest) {} }
        pump?.cancel()
        room?.resume()
    }
}
#endif
