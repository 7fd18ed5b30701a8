import SwitchboardPlatform
import SwitchboardText
import Foundation

/// Retries requests that failed in a way that may be temporary.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [RetryPolicy()])
/// let patient = RetryPolicy(
///     maximumAttempts: 6, strategy: .constant(.seconds(2)))
/// ```
///
/// | subject | default | change it with |
/// |---|---|---|
/// | methods | GET, HEAD, PUT, DELETE, OPTIONS, TRACE: the idempotent ones ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) | ``methods`` |
/// | other methods | only with an `Idempotency-Key` | ``addsIdempotencyKeys``, ``RequestOptions/idempotencyKey`` |
/// | status codes | 408, 429, 500, 502, 503, 504 | ``statusCodes`` |
/// | errors | `timedOut`, `cannotConnect`, `cannotFindHost`, `connectionLost`, `noInternetConnection`, `truncatedBody` | ``errorCodes`` |
/// | everything, for one request | the policy of the chain | ``RequestOptions/retry`` |
///
/// A POST or PATCH without this key is not retried, even after `cannotConnect`: a session may first have sent it over a
/// kept-alive connection that was closing, and the server may have processed it.
///
/// A body that can be sent only once is never retried, and nothing is retried after a cancellation or a reset.
///
/// The strategy sets the wait. The default is exponential backoff with full jitter: a random wait between zero and a
/// limit that grows twofold from `baseDelay` to ``maximumDelay``. If the server asks for a longer wait, the policy
/// waits that long; see ``NetworkResponse/retryAfter(now:)``. If that wait is longer than ``maximumDelay``, or would
/// exceed ``Timeouts/total``, the server's response is the result at once.
///
/// All retries of a call share one count of attempts: two policies in a chain, or a policy and a download, never
/// multiply. ``NetworkResponse/attempts`` and ``NetworkError/attempts`` count the attempts. ``NetworkResponse/history``
/// and ``NetworkError/history`` list their outcomes.
public struct RetryPolicy: Interceptor {
    /// The largest number of attempts, including the first. Default 3.
    public package(set) var maximumAttempts: Int
    /// The strategy for the waits. Default ``RetryStrategy/exponential(from:jitter:)``.
    public let strategy: RetryStrategy
    /// The longest wait. If a server asks for a longer one, its response is the result. Default 30 seconds.
    public let maximumDelay: Duration
    /// The methods that may be retried. Default the idempotent ones.
    public var methods: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]
    /// The status codes that are retried. Default 408, 429, 500, 502, 503 and 504.
    public var statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The errors that are retried: exactly these codes, not their special cases.
    public var errorCodes: Set<NetworkError.Code> = [
        .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .noInternetConnection, .truncatedBody,
    ]
    /// Whether a request with a method outside of ``methods`` gets a new `Idempotency-Key`, and may be retried then. A
    /// server that supports the field processes such requests once. Default false, because other servers ignore the
    /// field.
    public var addsIdempotencyKeys = false
    /// The limit for the share of requests that are retried. Nil, the default, for no limit.
    package var budget: (any RetryCounter)?
    private(set) var clock: any Clock<Duration>
    private(set) var now: @Sendable () -> Date

    /// Creates a policy whose waits double.
    ///
    /// - Parameters:
    ///   - maximumAttempts: The largest number of attempts, including the first. Below 1 it counts as 1.
    ///   - baseDelay: The wait before the second attempt, before jitter. Each later wait is twice as long.
    ///   - maximumDelay: The longest wait.
    ///   - jitter: Returns the fraction of each wait; see ``RetryStrategy/exponential(from:jitter:)``.
    ///   - clock: The clock that measures the waits. A test clock ends them at once.
    ///   - now: Returns the current date, for a `Retry-After` with a date.
    public init(
        maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        jitter: (@Sendable () -> Double)? = { .random(in: 0..<1) }, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            maximumAttempts: maximumAttempts, strategy: .exponential(from: baseDelay, jitter: jitter),
            maximumDelay: maximumDelay, clock: clock, now: now)
    }

    /// Creates a policy with a custom strategy; see ``init(maximumAttempts:baseDelay:maximumDelay:jitter:clock:now:)``.
    public init(
        maximumAttempts: Int = 3, strategy: RetryStrategy, maximumDelay: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.maximumAttempts = max(1, maximumAttempts)
        self.strategy = strategy
        self.maximumDelay = maximumDelay.clamped
        self.clock = clock
        self.now = now
    }

    /// A policy with one attempt, which never retries.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// The first wait, before jitter. Half a second for a custom strategy.
    package var baseDelay: Duration { min(strategy.baseDelay.clamped, maximumDelay) }

    /// Sends the request until it succeeds, fails with an error that is not retried, or has used the attempts of its
    /// call.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        let policy = policy(for: request)
        try policy.addKey(to: &request)
        if let budget = policy.budget, !request.isSentAgain { budget.countCall() }
        if !request.isPartOfCall, policy.reasonNotToRetry(request) == nil { request.call = Call() }
        let left = policy.timeLeft(of: request)
        while true {
            let wait: Duration
            do {
                let result: Result<NetworkResponse, NetworkError>
                do {
                    let response = try await next(request)
                    guard policy.shouldRetry(after: response) else { return response }
                    result = .success(response)
                } catch var error as NetworkError {
                    error.attempts = max(request.call?.totalAttempts ?? 1, error.attempts)
                    result = .failure(error)
                }
                guard policy.allowsRetry(of: request, after: result),
                    let delay = policy.takeAttempt(after: result, of: request, within: left)
                else { return try result.get() }
                wait = delay
            }
            // The result is released before, because its body may occupy the slot of a limiter.
            try await policy.sleep(for: wait)
        }
    }

    /// Returns the request's own policy, or the default one, with the clock, date, budget and key setting of this
    /// policy. Returns this policy if neither exists.
    func policy(for request: NetworkRequest, default defaultPolicy: RetryPolicy? = nil) -> RetryPolicy {
        guard var own = request.options.retry ?? defaultPolicy else { return self }
        own.clock = clock
        own.now = now
        own.budget = own.budget ?? budget
        own.addsIdempotencyKeys = own.addsIdempotencyKeys || addsIdempotencyKeys
        return own
    }

    func addKey(to request: inout NetworkRequest) throws(NetworkError) {
        let key = request.options.idempotencyKey
        guard key != nil || addsIdempotencyKeys && !methods.contains(request.method) else { return }
        guard !request.headers.contains(IdempotencyKey.field) else { return }
        let text = (key ?? .unique).text
        // A server that accepts an empty key would treat all requests with it as one request.
        guard !text.trimmedOfBlanks.isEmpty else {
            throw NetworkError(.invalidRequest, reason: "the idempotency key is empty")
        }
        request.headers[IdempotencyKey.field] = text
    }

    /// Returns the reason why a request is never retried, or nil.
    func reasonNotToRetry(_ request: NetworkRequest) -> String? {
        guard maximumAttempts > 1 else { return "the policy allows one attempt" }
        guard request.body.isReplayable else { return "its body cannot be sent twice" }
        guard methods.contains(request.method) || request.headers[IdempotencyKey.field]?.isEmpty == false else {
            return "\(request.method) is not retried without \(IdempotencyKey.field)"
        }
        return nil
    }
}

extension NetworkRequest {
    /// Whether an earlier request of the same call failed without progress, as in a download that is retried.
    fileprivate var isSentAgain: Bool { isPartOfCall && call.map { $0.attempts > 1 } ?? false }
}

/// Limits the share of requests that are retried: `RetryBudget` of `SwitchboardResilience`.
package protocol RetryCounter: Sendable {
    /// Adds the share of one call.
    func countCall()
    /// Takes the cost of one retry. Returns false when too little is left.
    func takeRetry() -> Bool
}

extension RequestOptions {
    /// The retry policy for the request, in place of the ``RetryPolicy`` of its router. `.never` disables retries. The
    /// clock of the router's policy is kept, and so is its retry budget, unless this policy has one. Without a
    /// ``RetryPolicy`` in the chain, this policy runs before all interceptors. Nil, the default, for the router's
    /// policy.
    public var retry: RetryPolicy? {
        get { self[RetryOption.self] }
        set { self[RetryOption.self] = newValue }
    }

    /// The `Idempotency-Key` of the request, for servers that support the field. Only a ``RetryPolicy`` or a download
    /// adds it, the same for all attempts, and then also retries methods that it would send only once, such as POST. An
    /// empty key fails with ``NetworkError/Code/invalidRequest``. Default nil.
    public var idempotencyKey: IdempotencyKey? {
        get { self[IdempotencyKeyOption.self] }
        set { self[IdempotencyKeyOption.self] = newValue }
    }
}

private enum RetryOption: RequestOption { static let defaultValue: RetryPolicy? = nil }

private enum IdempotencyKeyOption: RequestOption { static let defaultValue: IdempotencyKey? = nil }

extension NetworkResponse {
    /// The number of attempts, including the first. Redirects, sign-ins and hedged requests do not count.
    public var attempts: Int { request?.call?.totalAttempts ?? 1 }
}
