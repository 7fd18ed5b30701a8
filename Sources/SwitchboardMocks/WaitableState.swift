import SwitchboardPlatform
import Foundation
import Switchboard

/// A value under a lock, and the tasks that wait for a state of it.
final class WaitableState<Value: Sendable>: Sendable {
    /// A waiting task. The first to wait is resumed first.
    private struct Waiter {
        let id: UUID
        /// Takes the awaited part out of the value and returns a closure that delivers it, or nil while it is not
        /// available.
        let attempt: @Sendable (inout Value) -> (@Sendable () -> Void)?
        let fail: @Sendable (any Error) -> Void
        var timer: Task<Void, Never>?
    }

    private struct Contents: Sendable {
        var value: Value
        var waiters: [Waiter] = []
        var closedBy: NetworkError?
    }

    private let contents: Protected<Contents>

    init(_ value: Value) {
        contents = Protected(Contents(value: value))
    }

    /// Changes or reads the value, and resumes the tasks whose wait is over.
    @discardableResult
    func withLock<Output: Sendable>(_ change: (inout Value) -> Output) -> Output {
        let (output, resumptions) = contents.withLock { contents in
            let output = change(&contents.value)
            var resumptions: [@Sendable () -> Void] = []
            contents.waiters.removeAll { waiter in
                guard let resume = waiter.attempt(&contents.value) else { return false }
                waiter.timer?.cancel()
                resumptions.append(resume)
                return true
            }
            return (output, resumptions)
        }
        for resume in resumptions { resume() }
        return output
    }

    /// Fails every wait, present and future, that is not fulfilled at once.
    func close(_ error: NetworkError) {
        let waiters = contents.withLock { contents in
            contents.closedBy = contents.closedBy ?? error
            defer { contents.waiters = [] }
            return contents.waiters
        }
        for waiter in waiters {
            waiter.timer?.cancel()
            waiter.fail(error)
        }
    }

    /// Suspends until `take` returns a value.
    ///
    /// - Throws: A `timedOut` error with `reason` after `limit`, the error passed to ``close(_:)``, or
    ///   `CancellationError`.
    func wait<Output: Sendable>(
        within limit: Duration, reason: @escaping @Sendable (Value) -> String,
        for take: @escaping @Sendable (inout Value) -> Output?
    ) async throws -> Output {
        try Task.checkCancellation()
        let id = UUID()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let waiter = Waiter(
                    id: id,
                    attempt: { value in
                        guard let output = take(&value) else { return nil }
                        return { continuation.resume(returning: output) }
                    },
                    fail: { continuation.resume(throwing: $0) })
                guard register(waiter) else { return }
                startTimer(for: id, limit, reason)
                // A cancellation before the registration found no waiter.
                if Task.isCancelled { end(id) { _ in CancellationError() } }
            }
        } onCancel: {
            end(id) { _ in CancellationError() }
        }
    }

    /// Returns false when the wait was over before it began.
    private func register(_ waiter: Waiter) -> Bool {
        let resume: (@Sendable () -> Void)? = contents.withLock { contents in
            if let resume = waiter.attempt(&contents.value) { return resume }
            if let error = contents.closedBy { return { waiter.fail(error) } }
            contents.waiters.append(waiter)
            return nil
        }
        resume?()
        return resume == nil
    }

    private func startTimer(for id: UUID, _ limit: Duration, _ reason: @escaping @Sendable (Value) -> String) {
        let timer = Task { [weak self] in
            do { try await Task.sleep(for: limit.clamped) } catch { return }
            self?.end(id) { NetworkError(.timedOut, reason: "\(reason($0)) within \(limit)") }
        }
        contents.withLock { contents in
            guard let index = contents.waiters.firstIndex(where: { $0.id == id }) else { return timer.cancel() }
            contents.waiters[index].timer = timer
        }
    }

    private func end(_ id: UUID, with error: (Value) -> any Error) {
        let end: (Waiter, any Error)? = contents.withLock { contents in
            guard let index = contents.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return (contents.waiters.remove(at: index), error(contents.value))
        }
        guard let (waiter, error) = end else { return }
        waiter.timer?.cancel()
        waiter.fail(error)
    }
}
