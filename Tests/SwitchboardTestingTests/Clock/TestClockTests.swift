import Dispatch
import Foundation
import Switchboard
import SwitchboardTesting
import Testing

@Suite(.timeLimit(.minutes(3)))
struct TestClockTests {
    private let clock = TestClock()

    @Test func itStandsStillUntilItIsMoved() async throws {
        let task = Task { try await clock.sleep(for: .seconds(2)) }
        #expect(try await clock.nextSleep() == .seconds(2))
        #expect(clock.now == TestClock.Instant())
        clock.advance(by: .milliseconds(1_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        try await task.value
        #expect(clock.sleeperCount == 0)
        #expect(clock.now.offset == .seconds(2))
    }

    @Test func itIsMovedToAPointAndNeverBack() async throws {
        let task = Task { try await clock.sleep(until: .init(offset: .seconds(3))) }
        _ = try await clock.nextSleep()
        clock.advance(to: .init(offset: .seconds(5)))
        try await task.value
        clock.advance(to: .init(offset: .seconds(4)))
        clock.advance(by: .seconds(-1))
        #expect(clock.now == TestClock.Instant(offset: .seconds(5)))
    }

    @Test func aSleepThatIsOverWhenItBeginsEndsAtOnceAndIsNoted() async throws {
        clock.advance(by: .seconds(5))
        try await clock.sleep(for: .zero)
        try await clock.sleep(until: .init(offset: .seconds(4)))
        #expect(clock.sleeps == [.zero, .seconds(-1)])
        #expect(clock.sleeperCount == 0)
    }

    /// Checks the order with a serial executor, which runs woken sleepers in the order of waking, and new ones in the
    /// order of their start.
    @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
    @Test func aThousandSleepersAreWokenByDeadlineAndThenByTheirOrder() async throws {
        var generator = SystemRandomNumberGenerator()
        let deadlines = (0..<1_000).map { _ in Int.random(in: 1...100, using: &generator) }
        let woken = Notes<Int>()
        let executor = OneByOne()
        let tasks = deadlines.enumerated().map { index, seconds in
            Task(executorPreference: executor) {
                try await clock.sleep(for: .seconds(seconds))
                woken.add(index)
            }
        }
        var reported: [Duration] = []
        for _ in deadlines { reported.append(try await clock.nextSleep()) }
        #expect(reported == deadlines.map { .seconds($0) })
        #expect(clock.sleeperCount == 1_000)
        clock.advance(by: .seconds(50))
        #expect(clock.sleeperCount == deadlines.filter { $0 > 50 }.count)
        clock.advance(by: .seconds(50))
        for task in tasks { try await task.value }
        let expected = (1...100).flatMap { second in deadlines.indices.filter { deadlines[$0] == second } }
        #expect(woken.all == expected)
    }

    @Test func whoSleepsAgainCountsFromTheNewTime() async throws {
        let task = Task {
            for _ in 0..<2 { try await clock.sleep(for: .seconds(1)) }
        }
        _ = try await clock.nextSleep()
        clock.advance(by: .seconds(10))
        #expect(try await clock.nextSleep() == .seconds(1))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await task.value
        #expect(clock.now.offset == .seconds(11))
    }

    // MARK: Cancellation

    @Test func aCancelledTaskDoesNotSleep() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeps.isEmpty)
    }

    @Test func cancellingEndsTheSleepAndNobodyElses() async throws {
        let other = Task { try await clock.sleep(for: .seconds(1)) }
        _ = try await clock.nextSleep()
        let task = Task { try await clock.sleep(for: .seconds(1)) }
        _ = try await clock.nextSleep()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await other.value
    }

    @Test func aCancellationAtAnyMomentEndsTheSleepOnce() async throws {
        for round in 0..<2_000 {
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            if round.isMultiple(of: 2) { await Task.yield() }
            let mover = Task { clock.advance(by: .seconds(round.isMultiple(of: 3) ? 1 : 0)) }
            task.cancel()
            await mover.value
            switch await task.result {
            case .success: break
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        #expect(clock.sleeperCount == 0)
    }

    // MARK: Reported sleeps

    @Test func nobodySleepingIsAnErrorAfterTheLimit() async throws {
        try await TestClock(skips: true).sleep(for: .seconds(1))
        let error = await #expect(throws: NetworkError.self) {
            try await clock.nextSleep(within: .milliseconds(1))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.reason?.contains("nobody slept after the 0 sleeps that were reported") == true)
    }

    @Test func waitingForASleepCanBeCancelled() async throws {
        let task = Task { try await clock.nextSleep(within: .seconds(50)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aSkippingClockMovesByItself() async throws {
        let clock = TestClock(skips: true)
        for seconds in [1, 60, 3_600] { try await clock.sleep(for: .seconds(seconds)) }
        #expect(clock.now.offset == .seconds(3_661))
        #expect(clock.sleeps == [.seconds(1), .seconds(60), .seconds(3_600)])
        #expect(try await clock.nextSleep() == .seconds(1))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeps.count == 3)
    }
}

/// Runs one job after the other, in the order in which they come.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class OneByOne: TaskExecutor {
    private let queue = DispatchQueue(label: "OneByOne")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
