import SwitchboardPlatform

/// Counts the calls or requests that run at once.
package final class Gauge: Sendable {
    private let counts = Protected((now: 0, peak: 0))

    package init() {}

    /// The most at once.
    package var peak: Int { counts.value.peak }

    package func enter() {
        counts.withLock { counts in
            counts.now += 1
            counts.peak = max(counts.peak, counts.now)
        }
    }

    package func leave() {
        counts.withLock { $0.now -= 1 }
    }

    /// Resets the peak.
    package func restart() {
        counts.withLock { $0.peak = $0.now }
    }
}
