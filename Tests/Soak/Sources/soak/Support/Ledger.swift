import Foundation
import Glibc
import Switchboard

/// Checks that each operation that begins also ends, exactly once.
final class Ledger: Sendable {
    private struct State {
        var endings: [UInt8]
        var pending: [Int: (what: String, since: Int)] = [:]
        /// The seconds in which the watchdog ran. A process that is stopped counts none.
        var seconds = 0
        var outcomes: [String: Int] = [:]
        var faults: [String] = []
        var faultCount = 0
    }

    private let state: Locked<State>
    private let count: Int

    init(_ count: Int) {
        self.count = count
        state = Locked(State(endings: Array(repeating: 0, count: count)))
    }

    func begin(_ index: Int, _ what: String) {
        state.withLock { $0.pending[index] = (what, $0.seconds) }
    }

    /// Records the end of an operation and counts its outcome, such as `value`.
    func end(_ index: Int, _ outcome: String) {
        state.withLock { state in
            state.pending[index] = nil
            state.endings[index] += 1
            state.outcomes[outcome, default: 0] += 1
        }
    }

    /// Records the end of an operation with a value, or with an error, which is a fault unless it is permitted.
    func end(_ index: Int, _ what: String, _ error: (any Error)?, permits: (any Error) -> Bool = { _ in false }) {
        guard let error else { return end(index, "value") }
        guard permits(error) else {
            fault("\(index), \(what): \(error)")
            return end(index, "wrong")
        }
        end(index, (error as? NetworkError)?.code.rawValue ?? "\(type(of: error))")
    }

    /// Runs an operation and records its end.
    func run(
        _ index: Int, _ what: String, permits: (any Error) -> Bool = { _ in false },
        _ operation: () async throws -> Void
    ) async {
        begin(index, what)
        do {
            try await operation()
            end(index, what, nil)
        } catch {
            end(index, what, error, permits: permits)
        }
    }

    func fault(_ text: String) {
        state.withLock { state in
            state.faultCount += 1
            if state.faults.count < 20 { state.faults.append(text) }
        }
    }

    /// Works through a warm-up and then the rest, and reads the figures before, between and after.
    ///
    /// `slack` is the number of descriptors and threads that the rest may add. With `leavesNothing` the warm-up may add none.
    func report(
        warmUp: Int, slack: Int = 0, leavesNothing: Bool = false, _ work: (Range<Int>) async -> Void
    ) async -> Report {
        Watchdog.watch(self)
        let warmUp = max(1, warmUp)
        let start = await Figures.settled()
        await work(0..<warmUp)
        var warm = await Figures.settled(goal: leavesNothing ? start : nil)
        warm.descriptors += slack
        warm.threads += slack
        await work(warmUp..<count)
        let end = await Figures.settled(goal: warm)
        say(outcomes)
        return Report(start: start, warm: warm, end: end, warmUp: "after \(warmUp)", outcome: outcome, faults: faults)
    }

    // MARK: Results

    var endedOnce: Int { state.withLock { $0.endings.count { $0 == 1 } } }

    var outcome: String { "ended once \(endedOnce) of \(count)" }

    /// The outcomes with their counts, such as `value 4711, cancelled 289`.
    var outcomes: String {
        let outcomes = state.withLock { $0.outcomes }
        return outcomes.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }

    var faults: [String] {
        var (faults, faultCount, twice) = state.withLock { state in
            (state.faults, state.faultCount, state.endings.count { $0 > 1 })
        }
        if faultCount > faults.count { faults.append("and \(faultCount - faults.count) more faults") }
        if twice > 0 { faults.append("\(twice) ended more than once") }
        if endedOnce < count { faults.append("\(count - endedOnce) of \(count) did not end once") }
        return faults
    }

    /// Counts one more second. Returns the operations that have been pending for more than `limit` seconds, the oldest
    /// first.
    func overdue(_ limit: Int) -> [String] {
        let (pending, now) = state.withLock { state in
            state.seconds += 1
            return (state.pending, state.seconds)
        }
        return pending.filter { now - $0.value.since > limit }.sorted { $0.value.since < $1.value.since }
            .map { "\($0.key): \($0.value.what), for \(now - $0.value.since) s" }
    }
}
