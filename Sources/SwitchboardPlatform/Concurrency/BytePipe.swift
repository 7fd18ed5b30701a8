import Foundation

/// A body between its writer and its reader. It holds a little; then the writer waits, or writes into a file when it
/// cannot wait.
///
/// Closures are called and a continuation is resumed outside of the lock, the continuation last.
package final class BytePipe: Sendable {
    /// What became of bytes that were offered.
    package enum Reception {
        case kept
        /// Kept, and the reader waits for them: ``deliver(resume:)`` is to follow.
        case awaited
        /// Not taken. They are offered again after `resume` was called.
        case full
        /// Not taken: the file failed.
        case failed(SpillFile.Failure)
    }

    private struct State {
        /// What is held, the oldest first, and how many bytes that is.
        var pieces: [Data] = []
        var held = 0
        var spill: SpillFile?
        var isPaused = false
        /// Asked for, and not done yet.
        var isResuming = false
        var isClosed = false
        var end: Result<Void, any Error>?
        /// Those who wait, the first first. There is one, unless a stream is read by two tasks at once.
        var readers: [UnsafeContinuation<Data?, any Error>] = []

        /// What the reader gets now; nil when it has to wait.
        mutating func answer() -> Result<Data?, any Error>? {
            guard !isClosed else { return .failure(CancellationError()) }
            if !pieces.isEmpty {
                let piece = pieces.removeFirst()
                held -= piece.count
                return .success(piece)
            }
            if let spill, !spill.isEmpty { return Result { try spill.next(BytePipe.piece) } }
            return end?.map { nil }
        }

        /// Whether the writer is to go on, which is said once for each pause.
        mutating func mustResume() -> Bool {
            guard isPaused, !isResuming, !isClosed, held <= BytePipe.low else { return false }
            isResuming = true
            return true
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            held += bytes.count
            if let last = pieces.last, last.count + bytes.count <= BytePipe.piece {
                pieces[pieces.count - 1].append(contentsOf: bytes)
            } else {
                pieces.append(Data(bytes))
            }
        }
    }

    private let state = Protected(State())
    private let spillLimit: Int64?
    /// How much is held in memory before the writer waits.
    package static let high = 512 << 10
    /// How much is still held when it goes on.
    private static let low = 256 << 10
    /// How much is given to the reader at once, about. Larger pieces, made on one thread and let go of on another, leave
    /// holes in the allocator's memory that add up over a long body.
    private static let piece = 64 << 10

    /// Makes a pipe. `spillLimit` is for a writer that cannot wait: the most bytes that may wait in a file.
    package init(spillLimit: Int64? = nil) {
        self.spillLimit = spillLimit
    }

    // MARK: The writer

    /// Takes bytes.
    package func offer(_ bytes: UnsafeRawBufferPointer) -> Reception {
        state.withLock { state in
            guard !state.isClosed else { return .kept }
            let isFirst = state.held == 0 && !state.readers.isEmpty
            // Once there is something in the file all goes there, or the order would be lost.
            if state.held < Self.high, state.spill?.isEmpty ?? true {
                state.append(bytes)
            } else if let spillLimit {
                do throws(SpillFile.Failure) {
                    if state.spill == nil { state.spill = try SpillFile(limit: spillLimit) }
                    try state.spill?.append(bytes)
                } catch {
                    return .failed(error)
                }
            } else {
                state.isPaused = true
                return .full
            }
            return isFirst ? .awaited : .kept
        }
    }

    /// Gives the reader that waits what has come.
    package func deliver(resume: () -> Void = {}) {
        update(resume) { _ in }
    }

    /// Whether the writer waits for the reader.
    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Notes that the writer goes on.
    package func didResume() {
        state.withLock { state in
            state.isPaused = false
            state.isResuming = false
        }
    }

    /// Notes the end, once; nil is that of a whole body. What is held can still be read.
    package func end(_ failure: (any Error)?) {
        update({}) { state in
            if state.end == nil { state.end = failure.map { .failure($0) } ?? .success(()) }
        }
    }

    // MARK: The reader

    /// The next piece; nil at the end. Calls `resume` when the writer waits and there is room again.
    package func next(resume: () -> Void = {}) async throws -> Data? {
        try await withUnsafeThrowingContinuation { continuation in
            update(resume) { $0.readers.append(continuation) }
        }
    }

    /// Whether all of the body has come.
    package var isComplete: Bool {
        if case .success? = state.withLock({ $0.end }) { true } else { false }
    }

    /// Lets go of what is held, and ends what the reader waits for. Calls `cancel` when the writer has not ended.
    package func close(cancel: () -> Void) {
        let (isOver, held) = state.withLock { state in
            state.isClosed = true
            defer { (state.pieces, state.held, state.spill) = ([], 0, nil) }
            return (state.end != nil, (state.pieces, state.spill))
        }
        _ = held
        if !isOver { cancel() }
        update({}) { _ in }
    }

    /// Changes the state, and gives those who wait what they can have then.
    private func update(_ resume: () -> Void, _ change: (inout State) -> Void) {
        let (reader, answer, mustResume, hasMore) = state.withLock {
            state -> (UnsafeContinuation<Data?, any Error>?, Result<Data?, any Error>, Bool, Bool) in
            change(&state)
            guard !state.readers.isEmpty, let answer = state.answer() else { return (nil, .success(nil), false, false) }
            let reader = state.readers.removeFirst()
            return (reader, answer, state.mustResume(), !state.readers.isEmpty)
        }
        if mustResume { resume() }
        if hasMore { update(resume) { _ in } }
        reader?.resume(with: answer)
    }
}
