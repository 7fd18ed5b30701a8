import Foundation

/// Returns how many times as long a large input takes as a small one, in processor time of the current thread, or of the
/// process on Apple's systems. Runs each up to three times and compares the least times, so that busy processes hardly
/// change it.
///
/// Eight times the input takes about 8 times as long in linear time, and 64 times as long in quadratic time. The small
/// input should take some milliseconds.
package func growth<Input>(
    from small: Int, to large: Int, of input: (Int) throws -> Input, _ run: (Input) throws -> Void
) rethrows -> Double {
    /// Returns the least time of three runs. Stops early after a run of at most `enough` seconds.
    func least(_ size: Int, enough: Double = 0) throws -> Double {
        let input = try input(size)
        var least = Double.infinity
        for _ in 0..<3 where least > enough {
            let start = processorTime
            try run(input)
            least = min(least, processorTime - start)
        }
        return least
    }
    let one = try least(small)
    return try least(large, enough: one * Double(large) / Double(small) * 1.5) / one
}

private var processorTime: Double {
    #if os(Linux)
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    #else
    Double(clock()) / 1_000_000  // CLOCKS_PER_SEC
    #endif
}
