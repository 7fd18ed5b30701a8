/// Runs an operation for no longer than a limit: whoever is first, the operation or the clock, decides, and the other
/// is cancelled. An operation that does not heed its cancellation is waited for.
///
/// - Throws: What the operation throws, or `error` when the limit passed.
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
