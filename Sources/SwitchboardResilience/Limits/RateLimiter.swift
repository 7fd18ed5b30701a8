import Switchboard
import SwitchboardPlatform

/// Limits the requests that start per time. Other requests wait in order of arrival.
///
/// ```swift
/// let limiter = RateLimiter(10)    // 10 a second
/// let manager = NetworkManager(interceptors: [RetryPolicy(), limiter])
/// let slow = RateLimiter(100, per: .seconds(60), burst: 5)
/// ```
///
/// It is a token bucket: each request takes a token, and tokens return one by one at an even rate. A canceled request
/// leaves the queue immediately and takes no token. List it after `RetryPolicy`, so that each attempt counts. If hosts
/// have different limits, use a separate limiter for each. Requests that refresh the credential of an
/// `AuthenticationInterceptor`, or that a credential provider sends, take a token if one is left, and do not wait.
public final class RateLimiter: Interceptor, ExchangeInterceptor {
    private struct State: Sendable {
        var bucket: TokenBucket
        var waiters = Waiters()
        /// The task that resumes waiting requests, with the number of the first one. Nil while no request waits.
        var refiller: (number: Int, task: Task<Void, Never>)?
    }

    let count: Int
    let period: Duration
    let burst: Int
    private let clock: any Clock<Duration>
    private let elapsed: @Sendable () -> Duration
    private let state: Protected<State>

    /// Creates a limiter with a full bucket.
    ///
    /// - Parameters:
    ///   - count: The number of requests that may start in the period, at least 1.
    ///   - period: The period. Default one second.
    ///   - burst: The number of requests that may start at once after a pause. With 1, requests start at even
    ///     intervals. Nil, the default, means `count`.
    ///   - clock: The clock that measures the time.
    public init(
        _ count: Int, per period: Duration = .seconds(1), burst: Int? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.count = max(1, count)
        self.period = max(.nanoseconds(1), period.clamped)
        self.burst = max(1, burst ?? count)
        self.clock = clock
        elapsed = clock.stopwatch()
        let (tokens, count, period) = (Double(self.burst), Double(self.count), self.period)
        state = Protected(State(bucket: TokenBucket(tokens, capacity: tokens, adding: count, per: period)))
    }

    /// The number of waiting requests.
    public var waiting: Int { state.withLock { $0.waiters.count } }

    /// Waits for a token, and sends the request.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        // A refresh must not wait behind requests that wait for its credential.
        if !request.options.bypassesLimits, !takeToken(), !EnclosingOperations.obtainCredential {
            request.report(.waiting(for: "the rate limit, at most \(count) in \(period.secondsText)"))
            let start = elapsed()
            try await waitForToken()
            request.report(.resumed(after: elapsed() - start))
        }
        return try await next(request)
    }

    // MARK: Tokens

    private func takeToken() -> Bool {
        let elapsed = elapsed()
        return state.withLock { state in
            state.bucket.fill(at: elapsed)
            return state.waiters.isEmpty && state.bucket.take()
        }
    }

    private func waitForToken() async throws {
        try await waitInQueue { waiter, id in
            state.withLock { state in
                state.waiters.append(waiter, id)
                if state.refiller == nil { state.refiller = (id, Task { await resumeWaiters(id) }) }
            }
        } onCancel: { [self] id in
            let (waiter, refiller) = state.withLock { state in
                let waiter = state.waiters.remove(id)
                guard state.waiters.isEmpty else { return (waiter, nil as Task<Void, Never>?) }
                defer { state.refiller = nil }
                return (waiter, state.refiller?.task)
            }
            refiller?.cancel()
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func resumeWaiters(_ number: Int) async {
        while !Task.isCancelled {
            let elapsed = elapsed()
            let (ready, wait) = state.withLock { state -> ([Waiters.Waiter], Duration?) in
                state.bucket.fill(at: elapsed)
                var ready: [Waiters.Waiter] = []
                while !state.waiters.isEmpty, state.bucket.take(), let waiter = state.waiters.removeFirst() {
                    ready.append(waiter)
                }
                guard !state.waiters.isEmpty else {
                    // Another task may have replaced this one, whose cancellation follows.
                    if state.refiller?.number == number { state.refiller = nil }
                    return (ready, nil)
                }
                return (ready, state.bucket.wait)
            }
            for waiter in ready { waiter.resume() }
            guard let wait else { return }
            try? await clock.sleep(for: wait)
        }
    }
}
