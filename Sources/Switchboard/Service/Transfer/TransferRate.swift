/// Measures bytes per second over the last few seconds.
struct TransferRate {
    private var samples: [(time: Duration, completed: Int64)] = []
    private static let span = Duration.seconds(3)
    private static let spacing = Duration.milliseconds(200)
    /// The shortest time for a measurement. In a shorter time the rate would be that of filling a buffer.
    private static let shortest = Duration.milliseconds(100)

    /// Records the number of bytes transferred. A smaller number than before begins a new measurement.
    mutating func note(_ completed: Int64, at time: Duration) {
        if let last = samples.last, completed < last.completed { samples = [] }
        // Each fifth of a second keeps one sample. Until it has passed, a new sample replaces the last one.
        if samples.count > 1, time - samples[samples.count - 2].time < Self.spacing { samples.removeLast() }
        samples.append((time, completed))
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// The rate. Nil until a tenth of a second was measured.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.shortest else {
            return nil
        }
        return Double(last.completed - first.completed) / ((last.time - first.time) / .seconds(1))
    }
}
