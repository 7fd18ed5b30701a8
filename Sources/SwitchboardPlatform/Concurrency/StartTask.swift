/// Starts a task that runs at once, on the caller's thread, until it waits for the first time; where the standard
/// library cannot do that, one that is put into the queue.
package func startTask<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output
) -> Task<Output, any Error> {
    #if compiler(>=6.2) && os(Linux)
    return Task.immediate { try await operation() }
    #else
    return Task { try await operation() }
    #endif
}
