/// Measures bytes per second over the last few seconds.
struct TransferRate {
    private var samples: [(time: Duration, completed: Int64)] = []
    private static let span = Duration.seconds(3)
    private static let spacing = Duration.milliseconds(200)
    /// What comes sooner after the beginning says how full a buffer was.
    private static let shortest = Duration.milliseconds(100)

    /// Notes how many bytes are through. Fewer than before begin a new measurement.
    mutating func note(_ completed: Int64, at time: Duration) {
        if let last = samples.last, completed < last.completed { samples = [] }
        // One sample for each fifth of a second stays; the newest is replaced until then.
        if samples.count > 1, time - samples[samples.count - 2].time < Self.spacing { samples.removeLast() }
        samples.append((time, completed))
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// Nil until a tenth of a second was measured.
    var bytesPerSecond: Double? {
        guard let first = samples.first, let last = samples.last, last.time - first.time >= Self.shortest else {
            return nil
        }
        return Double(last.completed - first.completed) / ((last.time - first.time) / .seconds(1))
    }
}
