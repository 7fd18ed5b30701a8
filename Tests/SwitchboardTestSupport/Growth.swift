import Foundation

/// Returns how many times as long a large input takes as a small one, in processor time of the current thread, or of the
/// process on Apple's systems, the least of three runs each. Busy processes hardly change it.
///
/// Eight times the input takes about 8 times as long in linear time, and 64 times as long in quadratic time. The small
/// input should take some milliseconds.
package func growth<Input>(
    from small: Int, to large: Int, of input: (Int) throws -> Input, _ run: (Input) throws -> Void
) rethrows -> Double {
    func least(_ size: Int) throws -> Double {
        let input = try input(size)
        var least = Double.infinity
        for _ in 0..<3 {
            let start = processorTime
            try run(input)
            least = min(least, processorTime - start)
        }
        return least
    }
    let (one, other) = (try least(small), try least(large))
    return other / one
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
