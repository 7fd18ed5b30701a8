import SwitchboardPlatform
import Foundation

/// How far an upload or a download is: give one to the call, and read it while the call runs.
///
/// ```swift
/// let progress = TransferProgress()
/// async let response = router.download(.poster(id: 7), to: file, progress: progress)
/// for await update in progress { bar.show(update.fraction) }
/// _ = try await response
/// ```
///
/// The sequence ends with the transfer, whatever its outcome; a slow reader misses updates, never the last one. One
/// value is for one transfer.
public final class TransferProgress: AsyncSequence, Sendable {
    /// How far it is at one moment.
    public struct Update: Sendable, Hashable {
        /// The bytes that are through, those of an earlier attempt that is resumed included. Fewer than before when the
        /// transfer had to begin again.
        public var completed: Int64
        /// The bytes of the whole; nil when it is not known, as for a compressed response.
        public var expected: Int64?
        /// Bytes per second over the last few seconds; nil until it can be told.
        public var rate: Double?

        /// Makes an update, for a preview for instance.
        public init(completed: Int64 = 0, expected: Int64? = nil, rate: Double? = nil) {
            self.completed = completed
            self.expected = expected
            self.rate = rate
        }

        /// The part that is through, 0 to 1; nil when the whole is not known. 1 for an empty whole.
        public var fraction: Double? {
            guard let expected else { return nil }
            return expected > 0 ? Swift.min(1, Double(completed) / Double(expected)) : 1
        }

        /// How long the rest takes at this rate; nil when it cannot be told.
        public var remaining: Duration? {
            guard let expected, let rate, rate > 0 else { return nil }
            return .seconds(Double(Swift.max(0, expected - completed)) / rate)
        }
    }

    private struct State {
        var update = Update()
        var rate = TransferRate()
        var isOver = false
        var nextID = 0
        var readers: [Int: AsyncStream<Update>.Continuation] = [:]
    }

    private let state = Protected(State())
    private let observe: (@Sendable (Update) -> Void)?
    private let elapsed: @Sendable () -> Duration
    /// Cancels the transfer, and the ones begun with it.
    let cancellation = CallCancellation()

    /// The same as a `Progress` of Foundation, for views that show one: its `cancel()` cancels the transfer. A whole that
    /// is not known has a `totalUnitCount` of -1.
    public let foundationProgress: Progress

    /// Makes one.
    ///
    /// - Parameters:
    ///   - clock: What the rate is measured by.
    ///   - observe: Called for each update, one after the other, on no thread in particular.
    public init(clock: any Clock<Duration> = ContinuousClock(), observe: (@Sendable (Update) -> Void)? = nil) {
        self.observe = observe
        elapsed = clock.stopwatch()
        foundationProgress = Progress(totalUnitCount: -1)
        foundationProgress.kind = .file
        foundationProgress.isCancellable = true
        foundationProgress.cancellationHandler = { [cancellation] in cancellation.cancel() }
    }

    /// Cancels the transfer, as cancelling its task does. A transfer that has not begun ends as soon as it begins; one that
    /// is over stays as it is.
    public func cancel() {
        foundationProgress.cancel()
        cancellation.cancel()
    }

    /// How far it is now.
    public var current: Update { state.withLock { $0.update } }

    /// Starts reading: the present state first, then each update.
    public func makeAsyncIterator() -> AsyncStream<Update>.Iterator {
        let (stream, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (update, isOver, id) = state.withLock { state -> (Update, Bool, Int) in
            state.nextID += 1
            if !state.isOver { state.readers[state.nextID] = continuation }
            return (state.update, state.isOver, state.nextID)
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[id] = nil }
        }
        continuation.yield(update)
        if isOver { continuation.finish() }
        return stream.makeAsyncIterator()
    }

    // MARK: What a transfer reports

    /// Not to be called twice at once.
    func report(_ completed: Int64, of expected: Int64?) {
        let time = elapsed()
        let (update, readers) = state.withLock { state in
            state.rate.note(completed, at: time)
            state.update = Update(completed: completed, expected: expected, rate: state.rate.bytesPerSecond)
            return (state.update, Array(state.readers.values))
        }
        foundationProgress.totalUnitCount = expected ?? -1
        foundationProgress.completedUnitCount = completed
        for reader in readers { reader.yield(update) }
        observe?(update)
    }

    /// Runs a transfer that this can cancel.
    func run<Output: Sendable>(_ operation: () async throws -> Output) async throws -> Output {
        // The handler of a `Progress` is called some time later.
        if foundationProgress.isCancelled { cancellation.cancel() }
        return try await cancellation.run {
            try CallCancellation.check()
            return try await operation()
        }
    }

    func end() {
        let readers = state.withLock { state in
            state.isOver = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
