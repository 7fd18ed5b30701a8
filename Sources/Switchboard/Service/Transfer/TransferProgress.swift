import SwitchboardPlatform
import Foundation

/// The progress of an upload or a download. Pass it to the call, and read it while the call runs.
///
/// ```swift
/// let progress = TransferProgress()
/// Task { for await update in progress { bar.show(update.fraction) } }
/// try await router.download(
///     .poster(id: 7), to: file, progress: progress)
/// ```
///
/// The sequence ends with the transfer, whatever its outcome. A slow reader may miss updates, but never the last one.
/// Create one for each transfer.
public final class TransferProgress: AsyncSequence, Sendable {
    /// The progress at one moment.
    public struct Update: Sendable, Hashable {
        /// The bytes transferred, including those of an earlier attempt that is resumed. It decreases when the transfer
        /// begins again.
        public var completed: Int64
        /// The total size in bytes. Nil when it is unknown, as for a compressed response.
        public var expected: Int64?
        /// The rate in bytes per second, over the last few seconds. Nil until it is known.
        public var rate: Double?

        /// Creates an update, for example for a preview.
        public init(completed: Int64 = 0, expected: Int64? = nil, rate: Double? = nil) {
            self.completed = completed
            self.expected = expected
            self.rate = rate
        }

        /// The fraction transferred, 0 to 1. Nil when the total size is unknown, 1 when it is zero.
        public var fraction: Double? {
            guard let expected else { return nil }
            return expected > 0 ? Swift.min(1, Double(completed) / Double(expected)) : 1
        }

        /// The expected remaining time at this rate. Nil when it is unknown.
        public var remaining: Duration? {
            guard let expected, let rate, rate > 0 else { return nil }
            let seconds = (Double(expected) - Double(completed)) / rate
            return .seconds(Swift.min(Swift.max(0, seconds), Duration.century.seconds))
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
    /// The cancellation of the transfer, before it begins or while it runs.
    private let cancellation = Call()

    /// The same progress as a `Progress` of Foundation, for views that show one. Its `cancel()` cancels the transfer.
    /// Its `totalUnitCount` is -1 when the total size is unknown.
    public let foundationProgress: Progress

    /// Creates a progress.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures the rate.
    ///   - observe: Called for each update, one at a time, on no specific thread.
    public init(clock: any Clock<Duration> = ContinuousClock(), observe: (@Sendable (Update) -> Void)? = nil) {
        self.observe = observe
        elapsed = clock.stopwatch()
        foundationProgress = Progress(totalUnitCount: -1)
        foundationProgress.kind = .file
        foundationProgress.isCancellable = true
        foundationProgress.cancellationHandler = { [cancellation] in cancellation.cancel() }
    }

    /// Cancels the transfer, as canceling its task does. A transfer that has not begun ends when it begins. A finished
    /// transfer is not affected.
    public func cancel() {
        foundationProgress.cancel()
        cancellation.cancel()
    }

    /// The progress now.
    public var current: Update { state.withLock { $0.update } }

    /// Starts reading: the current state first, then each update.
    public func makeAsyncIterator() -> AsyncStream<Update>.Iterator {
        let (stream, continuation) = AsyncStream<Update>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let isOver = state.withLock { state in
            // Under the lock, so that a later update replaces this one.
            continuation.yield(state.update)
            guard !state.isOver else { return true }
            state.nextID += 1
            continuation.onTermination = { [weak self, id = state.nextID] _ in
                self?.state.withLock { $0.readers[id] = nil }
            }
            state.readers[state.nextID] = continuation
            return false
        }
        if isOver { continuation.finish() }
        return stream.makeAsyncIterator()
    }

    // MARK: Reports

    /// Publishes an update. Must not be called concurrently.
    func report(_ completed: Int64, of expected: Int64?) {
        let time = elapsed()
        let (update, readers) = state.withLock { state in
            state.rate.record(completed, at: time)
            state.update = Update(completed: completed, expected: expected, rate: state.rate.bytesPerSecond)
            return (state.update, Array(state.readers.values))
        }
        if foundationProgress.totalUnitCount != expected ?? -1 {
            // The open-source Foundation multiplies positive totals with each other, and traps at a zero.
            foundationProgress.totalUnitCount = -1
            foundationProgress.totalUnitCount = expected ?? -1
        }
        foundationProgress.completedUnitCount = completed
        for reader in readers { reader.yield(update) }
        observe?(update)
    }

    /// Runs a transfer. This progress can cancel it, and ends with it.
    func run<Output: Sendable>(_ operation: () async throws -> Output) async throws -> Output {
        defer { end() }
        // `Progress` calls its cancellation handler with a delay.
        if foundationProgress.isCancelled { cancellation.cancel() }
        let call = Call(parent: .current)
        let id = cancellation.add { call.cancel() }
        defer { cancellation.remove(id) }
        return try await call.run {
            try Call.check()
            return try await operation()
        }
    }

    private func end() {
        let readers = state.withLock { state in
            state.isOver = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}

extension Optional where Wrapped == TransferProgress {
    /// Runs an operation, as a transfer if there is a progress.
    @inline(__always)
    func run<Output: Sendable>(_ operation: () async throws -> Output) async throws -> Output {
        guard let self else { return try await operation() }
        return try await self.run(operation)
    }
}

/// Measures bytes per second over the last few seconds.
struct TransferRate {
    private var samples: [(time: Duration, completed: Int64)] = []
    private static let span = Duration.seconds(3)
    private static let spacing = Duration.milliseconds(200)
    /// The shortest time for a measurement. A shorter one would measure the filling of a buffer.
    private static let shortest = Duration.milliseconds(100)

    /// Records the number of bytes transferred. A smaller number than before begins a new measurement.
    mutating func record(_ completed: Int64, at time: Duration) {
        if let last = samples.last, completed < last.completed { samples = [] }
        // Keeps one sample per fifth of a second.
        if samples.count > 1, time - samples[samples.count - 2].time < Self.spacing { samples.removeLast() }
        samples.append((time, completed))
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// The rate. Nil until a tenth of a second was measured.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.shortest else {
            return nil
        }
        return Double(last.completed - first.completed) / ((last.time - first.time) / .seconds(1))
    }
}

/// Reports the bytes of a body that a session has sent. Observers run outside of the session's thread, which must not
/// wait for them.
package func withUploadProgress<Output: Sendable>(
    _ progress: TransferProgress,
    _ operation:
        @Sendable (_ report: @escaping @Sendable (_ sent: Int64, _ length: Int64?) -> Void) async throws -> Output
) async throws -> Output {
    let (sent, continuation) = AsyncStream<(Int64, Int64?)>.makeStream(bufferingPolicy: .bufferingNewest(1))
    async let reporting: Void = {
        for await (count, length) in sent { progress.report(count, of: length) }
    }()
    do {
        let output = try await operation { continuation.yield(($0, $1)) }
        continuation.finish()
        await reporting
        return output
    } catch {
        continuation.finish()
        await reporting
        throw error
    }
}
