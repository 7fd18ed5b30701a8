/// Reports the bytes of a body that a session has sent. Observers run outside of the session's thread, which must not
/// wait for them.
package func withUploadProgress<Output: Sendable>(
    _ progress: TransferProgress,
    _ operation:
        @Sendable (_ note: @escaping @Sendable (_ sent: Int64, _ length: Int64?) -> Void) async throws -> Output
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
