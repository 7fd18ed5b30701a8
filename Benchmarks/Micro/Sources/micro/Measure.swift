import Callgrind
import Foundation

/// Measures one operation: its CPU time, or under valgrind the counts of callgrind.
struct Measure: Sendable {
    let batches: Int
    let secondsPerBatch: Double
    /// The repetitions of an operation under valgrind. More do not make the counts more exact.
    static let times = 100

    /// Returns the nanoseconds of CPU that one operation takes in all threads. The best of several batches counts, so
    /// other programs have little effect. Under valgrind, returns how many operations the file from callgrind covers.
    func callAsFunction(_ name: String, _ operation: () async throws -> Void) async rethrows -> Double {
        guard !callgrind_is_there() else { return try await count(name, operation) }
        var count = 1
        var best = Double.infinity
        var done = 0
        while done < batches {
            let start = Self.now
            for _ in 0..<count { try await operation() }
            let spent = Self.now - start
            if note(spent, &count, &best) { done += 1 }
        }
        return best
    }

    private func count(_ name: String, _ operation: () async throws -> Void) async rethrows -> Double {
        // Work that happens once per process is not counted.
        for _ in 0..<Self.times / 4 { try await operation() }
        // Operations that wait for another process vary, so they are counted more often.
        for _ in 0..<(name.hasPrefix("curl.") ? 5 : 2) {
            callgrind_forget()
            for _ in 0..<Self.times { try await operation() }
            callgrind_write(name)
        }
        return Double(Self.times)
    }

    /// Records a batch, or enlarges the next one if this one was too short. Returns whether the batch was recorded.
    private func note(_ nanoseconds: Double, _ count: inout Int, _ best: inout Double) -> Bool {
        guard nanoseconds >= secondsPerBatch * 0.5e9 else {
            count = max(count * 2, Int(Double(count) * secondsPerBatch * 1e9 / max(nanoseconds, 1_000)))
            return false
        }
        best = min(best, nanoseconds / Double(count))
        return true
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// Prevents the compiler from removing the code that produces a value.
@inline(never) func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
