import SwitchboardPlatform
import Switchboard

/// Runs operations one after the other, in the order of the calls. A caller's cancellation does not cancel its
/// operation.
final class SerialTasks: Sendable {
    private let last = Protected<Task<Void, Never>?>(nil)

    func run(_ operation: @escaping @Sendable () async throws -> Void) async throws {
        let task = last.withLock { last in
            let previous = last
            let task = Task {
                await previous?.value
                try await operation()
            }
            last = Task { _ = await task.result }
            return task
        }
        try await task.value
    }
}
