import Switchboard

/// Suspends tasks until it is opened.
package final class Gate: Sendable {
    private let opened = Deliveries<Bool>()

    package init() {}

    package func wait() async throws {
        _ = try await opened.first()
    }

    package func open() {
        opened.open()
    }
}

/// Returns whether a condition becomes true soon, for conditions without an event.
package func comesTrue(_ condition: () -> Bool) async -> Bool {
    for _ in 0..<1_000_000 {
        if condition() { return true }
        await Task.yield()
    }
    return false
}
