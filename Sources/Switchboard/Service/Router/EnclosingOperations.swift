import SwitchboardPlatform

/// The operations that contain the running code, which must not wait for them: shared operations, resets, queues of
/// tasks, and refreshes and providers of credentials. A task that an operation started is part of it only until the
/// operation ends.
package enum EnclosingOperations {
    private final class Operation: Sendable {
        let owner: ObjectIdentifier
        let obtainsCredential: Bool
        let hasEnded = Protected(false)

        init(_ owner: AnyObject, obtainsCredential: Bool) {
            self.owner = ObjectIdentifier(owner)
            self.obtainsCredential = obtainsCredential
        }
    }

    @TaskLocal private static var current: [Operation] = []

    /// Returns whether the running code is part of an operation of this owner.
    package static func contain(_ owner: AnyObject) -> Bool {
        current.contains { $0.owner == ObjectIdentifier(owner) && !$0.hasEnded.value }
    }

    /// Whether the running code is part of a refresh or a provider of credentials. Limiters should not delay a request
    /// that it sends.
    package static var obtainCredential: Bool { current.contains { $0.obtainsCredential && !$0.hasEnded.value } }

    /// Runs an operation of this owner. `obtainsCredential` is true for a refresh or a provider of credentials.
    package static func run<Output>(
        of owner: AnyObject, obtainsCredential: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Output
    ) async rethrows -> Output {
        let operation = Operation(owner, obtainsCredential: obtainsCredential)
        defer { _ = operation.hasEnded.swap(true) }
        // Without the ended ones, which a chain of tasks would collect.
        let all = current.filter { !$0.hasEnded.value } + [operation]
        return try await $current.withValue(all, operation: body, isolation: isolation)
    }
}
