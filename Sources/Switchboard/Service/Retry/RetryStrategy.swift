import SwitchboardPlatform

/// The waits of a ``RetryPolicy`` between attempts.
public struct RetryStrategy: Sendable {
    private enum Kind: Sendable {
        case constant(Duration)
        case exponential(Duration, jitter: (@Sendable () -> Double)?)
        case custom(@Sendable (Int, NetworkRequest, Result<NetworkResponse, NetworkError>) -> Duration?)
    }

    private let kind: Kind

    /// No wait.
    public static let immediate = constant(.zero)

    /// Returns a strategy with the same wait each time.
    public static func constant(_ delay: Duration) -> RetryStrategy {
        RetryStrategy(kind: .constant(delay.clamped))
    }

    /// Returns a strategy whose waits double from `base`, the wait before the second attempt, up to
    /// ``RetryPolicy/maximumDelay``.
    ///
    /// `jitter` returns the fraction of each wait, from 0 to 1, so that clients that failed together do not retry
    /// together. Nil means the whole wait. The default is uniformly random: the *full jitter* that needed the fewest
    /// attempts in [tests by AWS](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/). With a
    /// seeded generator the waits are the same in each run.
    public static func exponential(
        from base: Duration = .milliseconds(500), jitter: (@Sendable () -> Double)? = { .random(in: 0..<1) }
    ) -> RetryStrategy {
        RetryStrategy(kind: .exponential(base.clamped, jitter: jitter))
    }

    /// Returns a strategy that uses a closure, in place of the policy's statuses and errors and the server's fields.
    /// The other rules still apply: methods, bodies, attempts, longest wait, budget, total timeout.
    ///
    /// The closure runs after each result of a request that may be repeated, also a success, with the number of the
    /// attempt, from 1. It returns nil when the result is final.
    ///
    /// ```swift
    /// let accepted = RetryStrategy.custom { attempt, request, result in
    ///     (try? result.get().statusCode) == 202 ? .seconds(attempt) : nil
    /// }
    /// ```
    public static func custom(
        _ decide:
            @escaping @Sendable (
                _ attempt: Int, _ request: NetworkRequest, _ result: Result<NetworkResponse, NetworkError>
            ) -> Duration?
    ) -> RetryStrategy {
        RetryStrategy(kind: .custom(decide))
    }

    var isCustom: Bool {
        if case .custom = kind { true } else { false }
    }

    var baseDelay: Duration {
        switch kind {
        case .constant(let delay), .exponential(let delay, _): delay
        case .custom: .milliseconds(500)
        }
    }

    /// Returns the wait after an attempt, at most `limit`. The limit is at most a century, which prevents an overflow.
    func delay(
        _ attempt: Int, _ request: NetworkRequest, _ result: Result<NetworkResponse, NetworkError>,
        upTo limit: Duration
    ) -> Duration? {
        switch kind {
        case .constant(let delay): return min(delay, limit)
        case .custom(let decide):
            return decide(attempt, request, result).map { max(.zero, min($0, limit)) }
        case .exponential(let base, let jitter):
            let delay = base.doubled(attempt - 1, upTo: limit)
            guard let fraction = jitter?() else { return delay }
            return delay * (fraction.isFinite ? max(0, min(fraction, 1)) : 1)
        }
    }
}

extension Duration {
    package func doubled(_ times: Int, upTo limit: Duration) -> Duration {
        var delay = min(self, limit)
        // 128 doublings take an attosecond beyond every limit, and zero stays zero.
        for _ in 0..<max(0, min(times, 128)) where delay < limit { delay = min(limit, delay * 2) }
        return delay
    }
}
