/// Runs an operation with a timeout. It cancels the operation when the limit has passed, and waits for an operation that
/// ignores its cancellation. It returns a late output if `isKept` returns true for it.
///
/// - Throws: The operation's error, or `error` when the limit has passed.
package func withTimeout<Output: Sendable>(
    _ limit: Duration, by clock: any Clock<Duration> = ContinuousClock(),
    error: @autoclosure () -> any Error, keepingLate isKept: (Output) -> Bool = { _ in false },
    operation: @escaping @Sendable () async throws -> Output
) async throws -> Output {
    try await withThrowingTaskGroup(of: Output?.self) { group in
        group.addTask(operation: operation)
        group.addTask {
            // A longer sleep would overflow the clock.
            do { try await clock.sleep(for: limit.clamped) } catch is CancellationError {}
            return nil
        }
        defer { group.cancelAll() }
        if let output = try await group.next() ?? nil { return output }
        group.cancelAll()
        if let late = try? await group.next() ?? nil, isKept(late) { return late }
        try Task.checkCancellation()
        throw error()
    }
}

/// Starts a task that runs immediately on the caller's thread until its first suspension. If the standard library does
/// not support that, the task is enqueued.
package func startTask<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output
) -> Task<Output, any Error> {
    #if compiler(>=6.2) && os(Linux)
    return Task.immediate { try await operation() }
    #else
    return Task { try await operation() }
    #endif
}
