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

/// Waits until a condition is true, for conditions without an event. Returns false when the test's time is over.
package func comesTrue(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for turn in 0... {
        if try await condition() { return true }
        // A thread that makes it true may need the processor.
        if turn < 1_000 { await Task.yield() } else if (try? await Task.sleep(for: .milliseconds(1))) == nil { break }
    }
    return try await condition()
}
