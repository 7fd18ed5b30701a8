@testable import SwitchboardMocks
import Testing

@Suite("Waitable state", .timeLimit(.minutes(10))) struct WaitableStateTests {
    @Test("a value that is taken when the time is over is returned")
    func atTheLimit() async throws {
        for round in 0..<1_000 {
            let state = WaitableState([Int]())
            let adding = Task {
                try await Task.sleep(for: .milliseconds(1))
                state.withLock { $0.append(round) }
            }
            let taken = try? await state.wait(within: .milliseconds(1), reason: { _ in "" }) { $0.popLast() }
            try await adding.value
            // Either may come first.
            #expect(taken == round || state.withLock { $0 } == [round])
        }
    }
}
