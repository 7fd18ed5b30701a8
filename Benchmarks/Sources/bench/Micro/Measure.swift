import Foundation

/// CPU time of one operation, in nanoseconds: the best of several batches, so that what else the machine does counts
/// least. All threads of the process are counted.
struct Measure: Sendable {
    let batches: Int
    let secondsPerBatch: Double

    func callAsFunction(_ operation: () throws -> Void) rethrows -> Double {
        var count = 1
        var best = Double.infinity
        var done = 0
        while done < batches {
            let start = Self.now
            for _ in 0..<count { try operation() }
            let spent = Self.now - start
            if note(spent, &count, &best) { done += 1 }
        }
        return best
    }

    func callAsFunction(_ operation: () async throws -> Void) async rethrows -> Double {
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
