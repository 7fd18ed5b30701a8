import Switchboard
import SwitchboardPlatform

/// Sends a GET a second time when its answer is late, and takes the answer that comes first: cuts off the slowest
/// answers of a server with several machines, for a few more requests.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [RetryPolicy(), Hedging(after: .milliseconds(300))])
/// ```
///
/// For GETs without a body that do not stream their response, as a download does; all others pass. The first
/// answer that is no failure by ``CircuitBreaker/isFailure(_:)`` wins and the other attempts are cancelled; without
/// one, the last to come is the result. A failure does not send another one: that is what `RetryPolicy` is for.
///
/// Choose a delay that most answers keep, the 95th percentile for instance. The budget keeps a slow server from getting
/// twice the requests.
public struct Hedging: Interceptor {
    private enum Event: Sendable {
        case ended(Result<NetworkResponse, any Error>)
        case late
    }

    /// How long an answer is waited for before another request is sent.
    public let delay: Duration
    /// How often a request is sent at most, the first time included. Default 2.
    public let maximumAttempts: Int
    private let budget: RetryBudget?
    private let clock: any Clock<Duration>

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - delay: How long an answer is waited for before another request is sent.
    ///   - maximumAttempts: How often a request is sent at most, the first time included.
    ///   - budget: How many of all requests are sent again. By default one in ten, and one a second in any case. Nil
    ///     for no limit.
    ///   - clock: What measures the delay.
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

    /// Sends the request, and again while no answer comes.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard fits(request) else { return try await next(request) }
        budget?.countCall()
        // Of one more task than there are attempts: the one that says that they are late.
        return try await withThrowingTaskGroup(of: Event.self) { group in
            defer { group.cancelAll() }
            var (sent, underWay) = (0, 0)
            func send() {
                (sent, underWay) = (sent + 1, underWay + 1)
                group.addTask { await attempt(request, next) }
                if sent < maximumAttempts { group.addTask { try await wait() } }
            }
            send()
            while let event = try await group.next() {
                switch event {
                case .late:
                    guard budget?.takeRetry() != false else {
                        request.report(.note("no hedge: the retry budget is used up"))
                        continue
                    }
                    request.report(.retry(after: delay, because: "no response yet; the first request continues"))
                    send()
                case .ended(let result):
                    underWay -= 1
                    try CallCancellation.check()
                    if underWay == 0 || isGood(result) { return try result.get() }
                }
            }
            throw CancellationError()
        }
    }

    private func fits(_ request: NetworkRequest) -> Bool {
        maximumAttempts > 1 && request.method == .get && request.body.isEmpty && !request.options.streamsResponse
    }

    private func isGood(_ result: Result<NetworkResponse, any Error>) -> Bool {
        guard case .success(let response) = result else { return false }
        return !CircuitBreaker.isFailure(.success(response)) && response.statusCode != 429
    }

    private func attempt(_ request: NetworkRequest, _ next: Next) async -> Event {
        do { return .ended(.success(try await next(request))) } catch { return .ended(.failure(error)) }
    }

    private func wait() async throws -> Event {
        try await withOwnTask { [clock, delay] in try await clock.sleep(for: delay) }
        return .late
    }
}
