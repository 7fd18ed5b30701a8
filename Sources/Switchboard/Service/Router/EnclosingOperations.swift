import SwitchboardPlatform

/// The shared operations, the resets and the queues of tasks that contain the running code. That code must not wait for
/// one of them.
package enum EnclosingOperations {
    @TaskLocal private static var current = RunningOperations()

    package static func contain(_ owner: AnyObject) -> Bool { current.contain(owner) }

    /// Runs an operation of this owner.
    package static func run<Output>(
        of owner: AnyObject, isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        try await current.run(of: owner, in: $current, operation)
    }
}

/// The operations that contain the running code, as a task-local value. A task that an operation started is part of it
/// only until the operation ends.
struct RunningOperations: Sendable {
    private final class Operation: Sendable {
        let owner: ObjectIdentifier
        let hasEnded = Protected(false)

        init(_ owner: AnyObject) { self.owner = ObjectIdentifier(owner) }
    }

    private var operations: [Operation] = []

    var isEmpty: Bool { operations.allSatisfy(\.hasEnded.value) }

    func contain(_ owner: AnyObject) -> Bool {
        operations.contains { $0.owner == ObjectIdentifier(owner) && !$0.hasEnded.value }
    }

    /// Runs an operation inside these ones, as the value of a task local.
    func run<Output>(
        of owner: AnyObject, in local: TaskLocal<RunningOperations>, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Output
    ) async rethrows -> Output {
        let operation = Operation(owner)
        defer { _ = operation.hasEnded.swap(true) }
        // Without the ended ones, which a chain of tasks would collect.
        let all = RunningOperations(operations: operations.filter { !$0.hasEnded.value } + [operation])
        return try await local.withValue(all, operation: body, isolation: isolation)
    }
}
