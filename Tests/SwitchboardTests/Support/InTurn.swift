import Testing

/// Runs the test cases of the suites that have it a few at a time, over all of these suites together.
///
/// Swift Testing starts all tests at once. Suites that open sockets by the dozen would reach the number of descriptors
/// that a process may have, above all for Foundation's `Process`, which fails with about a thousand.
struct InTurn: SuiteTrait, TestTrait, TestScoping {
    private static let turns = Turns(4)

    var isRecursive: Bool { true }

    func scopeProvider(for test: Test, testCase: Test.Case?) -> InTurn? {
        testCase == nil ? nil : self
    }

    func provideScope(
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
    /// For suites over real sessions and servers: few of their test cases run at a time.
    static var inTurn: Self { InTurn() }
}

/// A number of turns; who finds none left waits until one comes back.
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
