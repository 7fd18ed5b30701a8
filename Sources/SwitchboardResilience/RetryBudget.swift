import Foundation
import Switchboard
import SwitchboardPlatform

/// How many requests may be sent again, of all that are sent: a server that fails everybody is not also asked three
/// times by everybody.
///
/// A bucket of tokens, as in Finagle and gRPC: each call puts a fraction of one into it, each retry takes one out, and
/// some come by themselves, so that a client with few calls can retry too. With none left, what the last attempt
/// brought is the result. Over a time there are no more retries than `ratio × calls + minimumPerSecond × (seconds +
/// 1)`.
///
/// One budget serves all policies that it is given to.
public final class RetryBudget: RetryLimit {
    private struct State: Sendable {
        var tokens: Double
        var filled = Duration.zero
    }

    /// How many retries each call allows. Default 0.2: one for five calls.
    public let ratio: Double
    /// How many retries a second are allowed in any case. Default 10.
    public let minimumPerSecond: Double
    /// How many retries can be saved up. Default 100.
    public let capacity: Double
    private let elapsed: @Sendable () -> Duration
    private let state: Protected<State>

    /// Makes a budget, with the minimum of one second in it. Values that are no number, or negative, count as 0.
    public init(
        ratio: Double = 0.2, minimumPerSecond: Double = 10, capacity: Double = 100,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.ratio = ratio.orZero
        self.minimumPerSecond = minimumPerSecond.orZero
        self.capacity = capacity.orZero
        elapsed = clock.stopwatch()
        state = Protected(State(tokens: min(self.minimumPerSecond, self.capacity)))
    }

    /// How many retries are left now.
    public var remaining: Int {
        let elapsed = elapsed()
        return state.withLock { state in
            fill(&state, at: elapsed)
            return Int(min(state.tokens, 1e15))
        }
    }

    /// Puts in what a call allows.
    package func countCall() {
        let elapsed = elapsed()
        state.withLock { state in
            fill(&state, at: elapsed)
            state.tokens = min(capacity, state.tokens + ratio)
        }
    }

    /// Takes what a retry costs; false when there is nothing left.
    package func takeRetry() -> Bool {
        let elapsed = elapsed()
        return state.withLock { state in
            fill(&state, at: elapsed)
            guard state.tokens >= 1 - 1e-9 else { return false }  // five fifths are not exactly one
            state.tokens = max(0, state.tokens - 1)
            return true
        }
    }

    private func fill(_ state: inout State, at time: Duration) {
        guard time > state.filled else { return }
        state.tokens = min(capacity, state.tokens + minimumPerSecond * ((time - state.filled) / .seconds(1)))
        state.filled = time
    }
}

extension RetryPolicy {
    /// The policy, with a budget for what it sends again. Share one between the policies of a server.
    public func limited(by budget: RetryBudget) -> RetryPolicy {
        var policy = self
        policy.limit = budget
        return policy
    }
}

extension Double {
    fileprivate var orZero: Double { self > 0 && isFinite ? self : 0 }
}
