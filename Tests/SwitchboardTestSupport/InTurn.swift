import Testing

/// Limits the number of test cases that run at a time, over all suites with this trait together.
///
/// Swift Testing starts all tests at once. Suites that open dozens of sockets would reach the process's limit of
/// descriptors. Foundation's `Process` fails with about a thousand open ones.
package struct InTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(4)

    package var isRecursive: Bool { true }

    package func scopeProvider(for test: Test, testCase: Test.Case?) -> InTurn? {
        testCase == nil ? nil : self
    }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.turns.take()
        do {
            try await function()
        } catch {
            await Self.turns.giveBack()
            throw error
        }
        await Self.turns.giveBack()
    }
}

extension Trait where Self == InTurn {
    /// A trait for suites over real sessions and servers: only a few of their test cases run at a time.
    package static var inTurn: Self { InTurn() }
}

/// A semaphore: `take()` waits while no permit is left.
private actor Turns {
    private var left: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ count: Int) {
        left = count
    }

    func take() async {
        guard left == 0 else {
            left -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func giveBack() {
        if waiting.isEmpty { left += 1 } else { waiting.removeFirst().resume() }
    }
}
