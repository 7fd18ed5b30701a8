/// How the waits of many clients that failed together are spread, so that they do not come back together.
public struct RetryJitter: Sendable {
    private let fraction: (@Sendable () -> Double)?

    /// Anything from no wait to the whole of it, evenly: what [AWS
    /// found](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/) to need the fewest attempts.
    public static let full = full { Double.random(in: 0..<1) }

    /// ``full``, drawn by a closure that gives fractions from 0 to 1: with a seeded generator the waits are the same in
    /// each run.
    public static func full(by fraction: @escaping @Sendable () -> Double) -> RetryJitter {
        RetryJitter(fraction: fraction)
    }

    /// The whole wait each time.
    public static let none = RetryJitter(fraction: nil)

    var isNone: Bool { fraction == nil }

    func spread(_ delay: Duration) -> Duration {
        guard let fraction = fraction?() else { return delay }
        return delay * (fraction.isFinite ? max(0, min(fraction, 1)) : 1)
    }
}
