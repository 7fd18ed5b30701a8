import SwitchboardPlatform

/// How long a ``RetryPolicy`` waits between attempts.
public struct RetryStrategy: Sendable {
    /// Decides after each result, successes too, of the attempt with that number, from 1: nil when it stands.
    public typealias Decide =
        @Sendable (
            _ attempt: Int, _ request: NetworkRequest, _ result: Result<NetworkResponse, NetworkError>
        ) -> Duration?

    private enum Kind: Sendable {
        case constant(Duration)
        case exponential(Duration, RetryJitter)
        case custom(Decide)
    }

    private let kind: Kind

    /// No wait.
    public static let immediate = constant(.zero)

    /// The same wait each time.
    public static func constant(_ delay: Duration) -> RetryStrategy {
        RetryStrategy(kind: .constant(delay.clamped))
    }

    /// A wait that doubles from the one before the second attempt, up to ``RetryPolicy/maximumDelay``.
    public static func exponential(
        from base: Duration = .milliseconds(500), jitter: RetryJitter = .full
    ) -> RetryStrategy {
        RetryStrategy(kind: .exponential(base.clamped, jitter))
    }

    /// What a closure says, in place of the policy's statuses, errors and the fields of the server. The other rules
    /// stay: methods, bodies, attempts, longest wait, budget, total timeout.
    ///
    /// ```swift
    /// .custom { attempt, request, result in (try? result.get().statusCode) == 202 ? .seconds(attempt) : nil }
    /// ```
    public static func custom(_ decide: @escaping Decide) -> RetryStrategy {
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

    /// The wait after an attempt, no longer than the limit, which is at most a century: no attempt can overflow it.
    func delay(
        _ attempt: Int, _ request: NetworkRequest?, _ result: Result<NetworkResponse, NetworkError>,
        upTo limit: Duration
    ) -> Duration? {
        switch kind {
        case .constant(let delay): return min(delay, limit)
        case .custom(let decide):
            return decide(attempt, request ?? NetworkRequest(.get, nil), result).map { max(.zero, min($0, limit)) }
        case .exponential(let base, let jitter): return jitter.spread(base.doubled(attempt - 1, upTo: limit))
        }
    }
}

extension Duration {
    package func doubled(_ times: Int, upTo limit: Duration) -> Duration {
        var delay = min(self, limit)
        for _ in 0..<max(0, times) where delay < limit { delay = min(limit, delay * 2) }
        return delay
    }
}

extension RetryStrategy: CustomStringConvertible {
    /// `waits that double from 0.5 s`
    public var description: String {
        switch kind {
        case .constant(.zero): "no wait"
        case .constant(let delay): "waits of \(delay.secondsText)"
        case .exponential(let base, let jitter):
            "waits that double from \(base.secondsText)" + (jitter.isNone ? "" : ", spread at random")
        case .custom: "waits of the app's own"
        }
    }
}
