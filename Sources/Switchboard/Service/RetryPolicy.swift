import Foundation

/// Sends a request again when it failed in a way that may pass.
///
/// Again after: no connection, a lost connection, a timeout of the attempt, and the statuses 408, 429, 500, 502, 503,
/// 504. Never: after a cancellation, for a method that is not idempotent ([RFC 9110
/// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)), or with a body that cannot be sent twice. The wait
/// doubles from ``baseDelay`` to ``maximumDelay``; a longer `Retry-After` in seconds or as a date is kept instead, up
/// to ``maximumDelay``.
public struct RetryPolicy: Interceptor {
    /// How often a request is sent at most, the first time included. Default 3.
    public let maximumAttempts: Int
    /// The wait before the second attempt. Default half a second.
    public let baseDelay: Duration
    /// The longest wait. A server that asks for more is not waited for: its answer is the result. Default 30 seconds.
    public let maximumDelay: Duration
    private let clock: any Clock<Duration>

    /// Makes a policy. The waits are measured by `clock`; a test clock lets them pass at once.
    public init(
        maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.maximumDelay = maximumDelay.clamped
        self.baseDelay = min(baseDelay.clamped, self.maximumDelay)
        self.clock = clock
    }

    /// Sends the request until it succeeds, fails for good, or the attempts are used up.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard request.method.isIdempotent, request.body.isReplayable else { return try await next(request) }
        var attempt = 1
        while true {
            let delay: Duration
            do {
                var response = try await next(request)
                response.noteAttempts(attempt, for: request)
                guard attempt < maximumAttempts, let wait = wait(after: response, attempt) else { return response }
                delay = wait
            } catch var error as NetworkError {
                error.attempts = attempt
                guard attempt < maximumAttempts, let wait = wait(after: error, attempt) else { throw error }
                delay = wait
            }
            request.report(.retry(after: delay, because: "HTTP 503"))
            try await sleep(for: delay)
            attempt += 1
        }
    }

    /// Waits by the policy's clock.
    func sleep(for delay: Duration) async throws {
        try await withOwnTask { [clock] in try await clock.sleep(for: delay) }
    }

    /// How long to wait after a response; nil when it is final.
    func wait(after response: NetworkResponse, _ attempt: Int) -> Duration? {
        switch response.statusCode {
        case 408, 429, 500, 502, 503, 504:
            let backoff = backoff(attempt)
            guard let asked = response.retryAfter else { return backoff }
            return asked > maximumDelay ? nil : max(backoff, asked)
        default: return nil
        }
    }

    /// How long to wait after a failure; nil when it is final.
    func wait(after error: NetworkError, _ attempt: Int) -> Duration? {
        switch error.code {
        case .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .noInternetConnection: backoff(attempt)
        default: nil
        }
    }

    /// Doubled no further than the longest wait, which is at most a century: no attempt can overflow it.
    func backoff(_ attempt: Int) -> Duration {
        var backoff = baseDelay
        for _ in 1..<attempt where backoff < maximumDelay { backoff = min(maximumDelay, backoff * 2) }
        return backoff
    }
}

private enum AttemptsOption: RequestOption { static let defaultValue = 1 }

extension NetworkResponse {
    /// How often the request was sent until this response came.
    var attempts: Int { request?[AttemptsOption.self] ?? 1 }

    fileprivate mutating func noteAttempts(_ count: Int, for request: NetworkRequest) {
        guard count > 1 else { return }
        if self.request == nil { self.request = request }
        self.request?[AttemptsOption.self] = count
    }

    /// `Retry-After`, in seconds or as a date ([RFC 9110
    /// §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)); a date that has passed is no wait. Nil when
    /// there is none or it is neither.
    fileprivate var retryAfter: Duration? {
        guard let value = headers["Retry-After"], !value.isEmpty else { return nil }
        if value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return .seconds(Int64(UInt32(value) ?? .max))
        }
        if let date = HTTPDate.parse(value) { return .seconds(max(0, date.timeIntervalSinceNow)) }
        return nil
    }
}
