import Switchboard
import SwitchboardPlatform

/// Sends a GET a second time when its response is late, and uses the first response. This shortens the slowest
/// responses of a server with several machines at the cost of a few more requests.
///
/// ```swift
/// let hedging = HedgingPolicy(after: .milliseconds(300))
/// let manager = NetworkManager(interceptors: [RetryPolicy(), hedging])
/// ```
///
/// It hedges GET requests without a body that neither stream nor download their response. All other requests pass
/// unchanged. The first response that is neither a failure by ``CircuitBreaker/isFailure(_:)`` nor a 429 is the result,
/// and the other attempts are canceled. If all fail, the last result counts. A failure does not trigger another
/// attempt; use `RetryPolicy` for that.
///
/// Choose a delay that most responses meet, for instance the 95th percentile. The budget prevents twice as many
/// requests to a slow server.
public struct HedgingPolicy: Interceptor {
    /// The result of an attempt, or nil when a response is late.
    private typealias Event = Result<NetworkResponse, any Error>?

    private let delay: Duration
    private let maximumAttempts: Int
    private let budget: RetryBudget?
    private let clock: any Clock<Duration>

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - delay: The time to wait for a response before another request is sent.
    ///   - maximumAttempts: The maximum number of times that a request is sent, including the first. Default 2. Below
    ///     2, nothing is hedged.
    ///   - budget: The limit of additional requests. By default one per ten calls, and at least one a second. Nil for
    ///     no limit.
    ///   - clock: The clock that measures the delay.
    public init(
        after delay: Duration, maximumAttempts: Int = 2,
        budget: RetryBudget? = RetryBudget(ratio: 0.1, minimumPerSecond: 1),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.delay = delay.clamped
        self.maximumAttempts = max(1, maximumAttempts)
        self.budget = budget
        self.clock = clock
    }

    /// Sends the request, and sends it again while no response arrives in time.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard canHedge(request) else { return try await next(request) }
        budget?.countCall()
        // The group contains a task per attempt and a task that waits for the delay.
        return try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            var (sent, inFlight) = (0, 0)
            func send() {
                (sent, inFlight) = (sent + 1, inFlight + 1)
                group.addTask { await attempt(request, next) }
                if sent < maximumAttempts { group.addTask { try await wait() } }
            }
            send()
            while let event = try await group.next() {
                if let result = event {
                    inFlight -= 1
                    try Call.check()
                    if inFlight == 0 || isSuccess(result) { return try result.get() }
                } else if budget?.takeRetry() == false {
                    request.report(.note("no hedge: the retry budget is used up"))
                } else {
                    request.report(.retry(after: delay, because: "no response yet; the first request continues"))
                    send()
                }
            }
            throw CancellationError()
        }
    }

    private func canHedge(_ request: NetworkRequest) -> Bool {
        maximumAttempts > 1 && request.method == .get && request.body.isEmpty && !request.options.streamsResponse
    }

    private func isSuccess(_ result: Result<NetworkResponse, any Error>) -> Bool {
        guard case .success(let response) = result else { return false }
        return !CircuitBreaker.isFailure(.success(response)) && response.statusCode != 429
    }

    private func attempt(_ request: NetworkRequest, _ next: Next) async -> Event {
        do { return .success(try await next(request)) } catch { return .failure(error) }
    }

    private func wait() async throws -> Event {
        try await withOwnTask { [clock, delay] in try await clock.sleep(for: delay) }
        return nil
    }
}
