/// Starts a task that runs at once on the caller's thread until its first suspension. If the standard library does not
/// support that, the task is enqueued.
package func startTask<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output
) -> Task<Output, any Error> {
    #if compiler(>=6.2) && os(Linux)
    return Task.immediate { try await operation() }
    #else
    return Task { try await operation() }
    #endif
}
