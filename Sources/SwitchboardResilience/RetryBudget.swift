import Foundation
import Switchboard
import SwitchboardPlatform

/// Limits retries to a fraction of all calls, so that a failing server does not also receive every request several
/// times.
///
/// It is a token bucket, as in Finagle and gRPC: each call adds a fraction of a token, and each retry takes one. Some
/// tokens are added over time, so that a client with few calls can retry too. Without a token, the result of the last
/// attempt is final. The number of retries never exceeds `ratio × calls + minimumPerSecond × (seconds + 1)`.
///
/// Several policies may share a budget. Each of them counts the calls that it receives.
public final class RetryBudget: RetryCounter {
    private let ratio: Double
    private let elapsed: @Sendable () -> Duration
    private let bucket: Protected<TokenBucket>

    /// Creates a budget that starts with the minimum of one second. Negative values and values that are not finite
    /// count as 0.
    ///
    /// - Parameters:
    ///   - ratio: The number of retries per call. Default 0.2: one retry per five calls.
    ///   - minimumPerSecond: The number of retries per second that are always allowed. Default 10.
    ///   - capacity: The maximum number of saved retries. Default 100.
    ///   - clock: The clock that measures the seconds.
    public init(
        ratio: Double = 0.2, minimumPerSecond: Double = 10, capacity: Double = 100,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.ratio = ratio.orZero
        elapsed = clock.stopwatch()
        let (minimum, capacity) = (minimumPerSecond.orZero, capacity.orZero)
        bucket = Protected(
            TokenBucket(min(minimum, capacity), capacity: capacity, adding: minimum, per: .seconds(1)))
    }

    /// The number of retries that are left now.
    public var remaining: Int {
        withFilledBucket { Int(clamping: Int64(min($0.tokens, 1e15))) }
    }

    package func countCall() {
        withFilledBucket { $0.add(ratio) }
    }

    /// Takes the token of one retry. Returns false when none is left.
    package func takeRetry() -> Bool {
        withFilledBucket { $0.take() }
    }

    private func withFilledBucket<Output>(_ body: (inout TokenBucket) -> Output) -> Output {
        let elapsed = elapsed()
        return bucket.withLock { bucket in
            bucket.fill(at: elapsed)
            return body(&bucket)
        }
    }
}

extension RetryPolicy {
    /// Returns the policy with a budget for its retries. Share a budget between the policies of one server.
    public func limited(by budget: RetryBudget) -> RetryPolicy {
        var policy = self
        policy.budget = budget
        return policy
    }
}

extension Double {
    fileprivate var orZero: Double { self > 0 && isFinite ? self : 0 }
}
