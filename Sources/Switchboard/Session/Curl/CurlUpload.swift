#if os(Linux)
import SwitchboardPlatform
import Foundation

/// A request's body while libcurl reads it. Read on the loop's thread.
protocol CurlUpload: AnyObject, Sendable {
    /// Begins to read the source, in the caller's task; the exchange is to be resumed when a piece came late.
    func start(for exchange: CurlExchange)
    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlUploadPiece
    /// Lets go of the source.
    func stop()
}

/// What a body gives next.
enum CurlUploadPiece {
    case bytes(Int)
    /// Nothing yet: the exchange is resumed when there is.
    case later
    case end
    case failure(NetworkError)
}

/// A body in memory.
final class CurlMemoryUpload: CurlUpload, @unchecked Sendable {  // `offset` is the loop's alone
    private let data: Data
    private var offset = 0

    init(_ data: Data) {
        self.data = data
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlUploadPiece {
        let count = min(buffer.count, data.count - offset)
        guard count > 0 else { return .end }
        let start = data.startIndex + offset
        data.copyBytes(to: buffer, from: start..<start + count)
        offset += count
        return .bytes(count)
    }

    func start(for exchange: CurlExchange) {}
    func stop() {}
}

/// A body that is read from its stream while it is sent: no more than a few chunks are held.
///
/// A task of its own pulls chunks and waits while enough are there; libcurl is paused while there are none.
final class CurlStreamUpload: CurlUpload, @unchecked Sendable {  // two are set at the start; the rest is locked
    private struct State {
        var chunks: [Data] = []
        var offset = 0  // in the first chunk
        var buffered = 0
        var given: Int64 = 0
        var isEnded = false
        var failure: NetworkError?
        var isReaderWaiting = false
        var room: CheckedContinuation<Void, Never>?
        var generation = 0
        var pump: Task<Void, Never>?
    }

    private let body: any HTTPBody
    private let length: Int64?
    private let state = Protected(State())
    private static let enough = 1 << 20
    private weak var exchange: CurlExchange?
    /// Where the body's closures run, also when it is read again on the loop's thread.
    private var environment: CallEnvironment?

    init(_ body: any HTTPBody) {
        self.body = body
        length = body.length
    }

    func start(for exchange: CurlExchange) {
        self.exchange = exchange
        environment = CallEnvironment.current
        start()
    }

    private func start() {
        let generation = state.withLock { $0.generation }
        let pump = Task { [environment] in await environment.run { await self.pull(generation) } }
        let isStopped = state.withLock { state in
            if state.generation == generation { state.pump = pump }
            return state.generation != generation
        }
        if isStopped { pump.cancel() }
    }

    private func pull(_ generation: Int) async {
        do {
            for try await chunk in try body.makeStream() {
                await waitForRoom(generation)
                guard push(chunk, generation) else { return }
            }
            finish(nil, generation)
        } catch {
            finish(NetworkError.encoding(error), generation)
        }
    }

    private func waitForRoom(_ generation: Int) async {
        await withCheckedContinuation { continuation in
            let isRoom = state.withLock { state in
                guard state.generation == generation, state.buffered >= Self.enough, !state.isReaderWaiting else {
                    return true
                }
                state.room = continuation
                return false
            }
            if isRoom { continuation.resume() }
        }
    }

    private func push(_ chunk: Data, _ generation: Int) -> Bool {
        let (isWanted, isReaderWaiting) = state.withLock { state in
            guard state.generation == generation else { return (false, false) }
            guard !chunk.isEmpty else { return (true, false) }  // to libcurl it would be the end
            state.chunks.append(chunk)
            state.buffered += chunk.count
            defer { state.isReaderWaiting = false }
            return (true, state.isReaderWaiting)
        }
        if isReaderWaiting { exchange?.requestResume() }
        return isWanted
    }

    private func finish(_ failure: NetworkError?, _ generation: Int) {
        let isReaderWaiting = state.withLock { state in
            guard state.generation == generation else { return false }
            state.isEnded = true
            state.failure = failure
            defer { state.isReaderWaiting = false }
            return state.isReaderWaiting
        }
        if isReaderWaiting { exchange?.requestResume() }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> CurlUploadPiece {
        let (piece, room) = state.withLock { state -> (CurlUploadPiece, CheckedContinuation<Void, Never>?) in
            guard let chunk = state.chunks.first else { return (atEnd(&state), nil) }
            let left = chunk.count - state.offset
            let count = min(buffer.count, left)
            if let length, state.given + Int64(left) >= length {
                // libcurl asks for no more than was announced: the last of that waits until no more can come.
                if state.given + Int64(left) > length || state.chunks.count > 1 {
                    return (.failure(wrongLength("more than the \(length) bytes")), nil)
                }
                if let failure = state.failure { return (.failure(failure), nil) }
                guard state.isEnded else {
                    state.isReaderWaiting = true
                    defer { state.room = nil }
                    return (.later, state.room)  // whether more comes is to be learned, room or not
                }
            }
            let start = chunk.startIndex + state.offset
            chunk.copyBytes(to: buffer, from: start..<start + count)
            state.offset += count
            state.given += Int64(count)
            state.buffered -= count
            if state.offset == chunk.count {
                state.chunks.removeFirst()
                state.offset = 0
            }
            guard state.buffered < Self.enough / 2 else { return (.bytes(count), nil) }
            defer { state.room = nil }
            return (.bytes(count), state.room)
        }
        room?.resume()
        return piece
    }

    private func atEnd(_ state: inout State) -> CurlUploadPiece {
        if let failure = state.failure { return .failure(failure) }
        guard state.isEnded else {
            state.isReaderWaiting = true
            return .later
        }
        if let length, state.given < length {
            return .failure(wrongLength("\(state.given) of the \(length) bytes"))
        }
        return .end
    }

    private func wrongLength(_ what: String) -> NetworkError {
        NetworkError(.encodingFailed, reason: "the body's stream gave \(what) that its length announced")
    }

    func stop() {
        let (pump, room) = state.withLock { state in
            defer {
                state.generation += 1
                state.pump = nil
                state.room = nil
                state.chunks = []
                state.buffered = 0
            }
            return (state.pump, state.room)
        }
        pump?.cancel()
        room?.resume()
    }

    deinit {
        state.withLock { $0.room }?.resume()
    }
}
#endif
