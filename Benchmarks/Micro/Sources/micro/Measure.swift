import Callgrind
import Foundation

/// Measures one operation: CPU time, or below valgrind what callgrind counts.
struct Measure: Sendable {
    let batches: Int
    let secondsPerBatch: Double
    /// How often an operation is done below valgrind; more is no more exact.
    static let times = 100

    /// What one operation takes, in nanoseconds: the best of several batches, so that what else the machine does counts
    /// least. All threads of the process are counted. Below valgrind it is the number of operations in the file that
    /// callgrind wrote.
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
        // What is done once per process is not counted.
        for _ in 0..<Self.times / 4 { try await operation() }
        // What waits for another process differs from time to time.
        for _ in 0..<(name.hasPrefix("curl.") ? 5 : 2) {
            callgrind_forget()
            for _ in 0..<Self.times { try await operation() }
            callgrind_write(name)
        }
        return Double(Self.times)
    }

    /// Takes a batch into account, or makes the next one longer when it was too short. Says whether it counted.
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

/// Keeps the compiler from leaving out what makes a value.
@inline(never) func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
