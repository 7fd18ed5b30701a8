import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DeadlineSweeperTests {
    private final class Holder: DeadlineHolder {
        private let time = Protected(SuspendingClock.now)
        private let onEnd: @Sendable () -> Void

        init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        var deadline: SuspendingClock.Instant? { time.value }
        func deadlinePassed() { onEnd() }
        func move() { time.withLock { $0 = .now + .seconds(86_400) } }
    }

    @Test("a deadline that moves while another one ends does not pass")
    func moved() async throws {
        let (sweeper, ended, isSwept) = (DeadlineSweeper(), Protected(0), Gate())
        let holders = Protected<[Holder]>([])
        for _ in 0..<2 {
            let holder = Holder {
                ended.withLock { $0 += 1 }
                holders.withLock { for holder in $0 { holder.move() } }
                // The sweeper ends this one after the others.
                sweeper.add(Holder { isSwept.open() })
            }
            holders.withLock { $0.append(holder) }
        }
        // Both are overdue before the first sweep.
        let blocker = Holder { [all = holders.value] in
            for holder in all { sweeper.add(holder) }
        }
        sweeper.add(blocker)
        try await isSwept.wait()
        #expect(ended.value == 1)
    }

    @Test("an operation goes on for 2 seconds after a suspended process continues")
    func suspended() async {
        let (time, isEnded) = (Protected(SuspendingClock.now), Protected(false))
        let sweeper = DeadlineSweeper { time.value }
        let holder = Holder { isEnded.withLock { $0 = true } }
        holder.move()
        sweeper.add(holder)
        func advance(by seconds: Int) {
            time.withLock { $0 = $0.advanced(by: .seconds(seconds)) }
            sweeper.sweep()
        }
        // The process is suspended again before the first pause ends.
        for seconds in [90_000, 1, 90_000, 1] {
            advance(by: seconds)
            #expect(!isEnded.value)
        }
        advance(by: 1)
        // The timer may sweep at that moment too.
        #expect(await comesTrue { isEnded.value })
    }
}
