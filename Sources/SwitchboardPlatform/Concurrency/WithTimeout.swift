/// Runs an operation with a time limit. The first to finish decides, the operation or the clock, and the other is
/// canceled. The function waits for an operation that ignores its cancellation.
///
/// - Throws: The operation's error, or `error` when the limit has passed.
package func withTimeout<Output: Sendable>(
    _ limit: Duration, by clock: any Clock<Duration> = ContinuousClock(),
    error: @autoclosure @escaping @Sendable () -> any Error,
    operation: @escaping @Sendable () async throws -> Output
) async throws -> Output {
    try await withThrowingTaskGroup(of: Output.self) { group in
        group.addTask(operation: operation)
        group.addTask {
            try await clock.sleep(for: limit)
            throw error()
        }
        defer { group.cancelAll() }
        guard let output = try await group.next() else { throw CancellationError() }
        return output
    }
}
