import Foundation

/// A bounded buffer between the writer and the reader of a body. When it is full, the writer waits. If the writer cannot
/// wait, a file stores further bytes.
///
/// The pipe calls closures and resumes continuations outside of the lock, the continuation last.
package final class BytePipe: Sendable {
    /// The result of offering bytes.
    package enum OfferResult {
        /// The bytes are buffered.
        case buffered
        /// The bytes are buffered, and the reader waits for them. The writer calls ``deliver(resume:)`` next.
        case awaited
        /// The bytes are rejected. The writer offers them again after `resume` is called.
        case full
        /// The bytes are rejected because the file failed.
        case failed(SpillFile.Failure)
    }

    /// A function in a struct, because reading an optional function out of the lock would allocate memory.
    private struct Receiver {
        let take: @Sendable (UnsafeRawBufferPointer) -> Int?
    }

    private struct State {
        /// The buffered bytes, oldest first, and their number.
        var pieces: [Data] = []
        var bufferedCount = 0
        var spill: SpillFile?
        var isPaused = false
        /// Whether `resume` was called and ``didResume()`` has not followed yet.
        var isResuming = false
        var isClosed = false
        /// The number of buffered bytes in memory at which the writer waits.
        var limit = BytePipe.highWaterMark
        /// Takes bytes on behalf of a waiting reader, without buffering.
        var receiver: Receiver?
        var end: Result<Void, any Error>?
        /// The waiting readers in order of arrival. More than one waits only if two tasks read the stream at once.
        var readers: [UnsafeContinuation<Data?, any Error>] = []

        /// Returns the result for the next reader, or nil if it must wait.
        mutating func nextResult() -> Result<Data?, any Error>? {
            guard !isClosed else { return .failure(CancellationError()) }
            if !pieces.isEmpty {
                let piece = pieces.removeFirst()
                bufferedCount -= piece.count
                return .success(piece)
            }
            if let spill, !spill.isEmpty { return Result { try spill.read(BytePipe.piece) } }
            return end?.map { nil }
        }

        /// Returns whether the writer must resume, once per pause.
        mutating func mustResume() -> Bool {
            guard isPaused, !isResuming, !isClosed, bufferedCount <= BytePipe.lowWaterMark else { return false }
            isResuming = true
            return true
        }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            bufferedCount += bytes.count
            // Holding the last piece here would copy it with each append.
            if let count = pieces.last?.count, count + bytes.count <= BytePipe.piece {
                pieces[pieces.count - 1].append(contentsOf: bytes)
            } else {
                pieces.append(Data(bytes))
            }
        }
    }

    private let state = Protected(State())
    private let spillLimit: Int64?
    /// The number of buffered bytes in memory at which the writer waits.
    package static let highWaterMark = 512 << 10
    /// The number of buffered bytes at which the writer resumes.
    private static let lowWaterMark = 256 << 10
    /// The approximate number of bytes that a reader receives at once. Larger pieces, allocated on one thread and freed
    /// on another, fragment the allocator's memory over a long body.
    private static let piece = 64 << 10

    /// Creates a pipe. A writer that cannot wait sets `spillLimit`, the maximum number of bytes that wait in a file.
    package init(spillLimit: Int64? = nil) {
        self.spillLimit = spillLimit
    }

    // MARK: The writer

    /// Offers bytes to the pipe.
    package func offer(_ bytes: UnsafeRawBufferPointer) -> OfferResult {
        state.withLock { state in
            guard !state.isClosed else { return .buffered }
            let isFirst = state.bufferedCount == 0 && !state.readers.isEmpty
            // While the file contains bytes, all new bytes go there to keep the order.
            if state.bufferedCount < state.limit, state.spill?.isEmpty ?? true {
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
            return isFirst ? .awaited : .buffered
        }
    }

    /// Delivers the buffered bytes to the waiting reader.
    package func deliver(resume: () -> Void = {}) {
        update(resume) { _ in }
    }

    /// Whether the writer waits for the reader.
    package var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Passes bytes directly to the receiver if a reader waits. Returns the rest to offer, or nil when the receiver took all.
    package func passToReceiver(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        let receiver = state.withLock { $0.pieces.isEmpty && !$0.readers.isEmpty && !$0.isClosed ? $0.receiver : nil }
        guard let receiver else { return bytes }
        return receiver.take(bytes).map { UnsafeRawBufferPointer(rebasing: bytes[$0...]) }
    }

    /// Returns whether the writer must wait for the reader, before it has bytes to offer.
    package func pauseIfFull() -> Bool {
        state.withLock { state in
            if state.bufferedCount >= state.limit, !state.isClosed { state.isPaused = true }
            return state.isPaused
        }
    }

    /// Removes the limit, because only the last bytes of a lost connection follow.
    package func removeLimit() {
        state.withLock { state in
            state.limit = .max
            state.isPaused = false
        }
    }

    package func didResume() {
        state.withLock { state in
            state.isPaused = false
            state.isResuming = false
        }
    }

    /// Ends the body, once. Nil means that it is complete. Buffered bytes can still be read.
    package func end(_ failure: (any Error)?) {
        update({}) { state in
            if state.end == nil { state.end = failure.map { .failure($0) } ?? .success(()) }
        }
    }

    // MARK: The reader

    /// Sets a function that takes bytes while a reader waits. It returns nil when it took all of them, and otherwise the
    /// number that it took. The reader then gets the rest, which may be empty.
    package func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {
        state.withLock { $0.receiver = $0.isClosed ? nil : Receiver(take: receiver) }
    }

    /// Returns the next piece, or nil at the end. Calls `resume` when the writer waits and the buffer has space again.
    package func next(resume: () -> Void = {}) async throws -> Data? {
        try await withUnsafeThrowingContinuation { continuation in
            update(resume) { $0.readers.append(continuation) }
        }
    }

    /// Whether the whole body has arrived.
    package var isComplete: Bool {
        if case .success? = state.withLock({ $0.end }) { true } else { false }
    }

    /// Releases the buffer, and ends the wait of a reader. Calls `cancel` if the writer has not ended.
    package func close(cancel: () -> Void) {
        let (isOver, released) = state.withLock { state in
            state.isClosed = true
            defer { (state.pieces, state.bufferedCount, state.spill, state.receiver) = ([], 0, nil, nil) }
            return (state.end != nil, (state.pieces, state.spill, state.receiver))
        }
        _ = released  // without the lock
        if !isOver { cancel() }
        update({}) { _ in }
    }

    /// Changes the state, and resumes the readers that have a result afterwards.
    private func update(_ resume: () -> Void, _ change: (inout State) -> Void) {
        let (reader, nextResult, mustResume, hasMore) = state.withLock {
            state -> (UnsafeContinuation<Data?, any Error>?, Result<Data?, any Error>, Bool, Bool) in
            change(&state)
            guard !state.readers.isEmpty, let nextResult = state.nextResult() else {
                return (nil, .success(nil), false, false)
            }
            let reader = state.readers.removeFirst()
            return (reader, nextResult, state.mustResume(), !state.readers.isEmpty)
        }
        if mustResume { resume() }
        if hasMore { update(resume) { _ in } }
        reader?.resume(with: nextResult)
    }
}
