import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Sends a request again when it failed in a way that may pass.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [RetryPolicy()])
/// let patient = RetryPolicy(maximumAttempts: 6, strategy: .constant(.seconds(2)))
/// ```
///
/// | what | sent again by default | change it with |
/// |---|---|---|
/// | methods | GET, HEAD, PUT, DELETE, OPTIONS, TRACE: those that are idempotent ([RFC 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)) | ``methods`` |
/// | other methods | with an `Idempotency-Key` only | ``addsIdempotencyKeys``, ``RequestOptions/idempotencyKey`` |
/// | statuses | 408, 429, 500, 502, 503, 504 | ``statuses`` |
/// | errors | `timedOut`, `cannotConnect`, `cannotFindHost`, `connectionLost`, `noInternetConnection`, `truncatedBody` | ``errorCodes`` |
/// | all of it for one request | | ``RequestOptions/retry`` |
///
/// A POST or PATCH without such a key is not sent again even when there was no connection: a session may have sent it
/// over a connection that had just died, and a server may have acted on it.
///
/// Never sent again: a body that can be sent only once, and anything after a cancellation or a reset.
///
/// The wait is that of the strategy, by default drawn between nothing and a limit that doubles from ``baseDelay`` to
/// ``maximumDelay`` (full jitter). A server that asks for a longer one gets it, see
/// ``NetworkResponse/retryAfter(now:)``; unless that is longer than ``maximumDelay``, or would pass the end of
/// ``Timeouts/total``: then what it answered is the result at once.
///
/// All that sends a call again draws from one number: two policies in a chain, or one and a download, never multiply.
/// ``NetworkResponse/attempts`` and ``NetworkError/attempts`` say how often a request was sent, and
/// ``NetworkResponse/history`` and ``NetworkError/history`` what became of each.
public struct RetryPolicy: Interceptor {
    /// How often a request is sent at most, the first time included. Default 3.
    public let maximumAttempts: Int
    /// How long the waits are. Default ``RetryStrategy/exponential(from:jitter:)``.
    public let strategy: RetryStrategy
    /// The longest wait. A server that asks for more is not waited for: its answer is the result. Default 30 seconds.
    public let maximumDelay: Duration
    /// The methods that may be sent again. Default those that are idempotent.
    public var methods: Set<HTTPMethod> = [.get, .head, .put, .delete, .options, .trace]
    /// The statuses after which a request is sent again. Default 408, 429, 500, 502, 503 and 504.
    public var statuses: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The errors after which a request is sent again: exactly these codes, not the special cases of them.
    public var errorCodes: Set<NetworkError.Code> = [
        .timedOut, .cannotConnect, .cannotFindHost, .connectionLost, .noInternetConnection, .truncatedBody,
    ]
    /// Whether a request whose method is none of ``methods`` gets an `Idempotency-Key` of its own, which makes that a
    /// server that knows the field acts once however often it is sent: then it is sent again too. Default false, since
    /// servers that do not know the field take no notice of it.
    public var addsIdempotencyKeys = false
    /// Limits how many of all requests are sent again. Default nil: no limit.
    package var limit: (any RetryLimit)?
    private(set) var clock: any Clock<Duration>
    private(set) var now: @Sendable () -> Date

    /// Makes a policy whose waits double.
    ///
    /// - Parameters:
    ///   - maximumAttempts: How often a request is sent at most, the first time included.
    ///   - baseDelay: The wait before the second attempt.
    ///   - maximumDelay: The longest wait.
    ///   - jitter: Draws the fraction of each wait; see ``RetryStrategy/exponential(from:jitter:)``.
    ///   - clock: What measures the waits; a test clock lets them pass at once.
    ///   - now: The time that dates in header fields are compared with.
    public init(
        maximumAttempts: Int = 3, baseDelay: Duration = .milliseconds(500), maximumDelay: Duration = .seconds(30),
        jitter: (@Sendable () -> Double)? = { .random(in: 0..<1) }, clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            maximumAttempts: maximumAttempts, strategy: .exponential(from: baseDelay, jitter: jitter),
            maximumDelay: maximumDelay, clock: clock, now: now)
    }

    /// Makes a policy with another strategy; see
    /// ``init(maximumAttempts:baseDelay:maximumDelay:jitter:clock:now:)``.
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

    /// One attempt: nothing is sent again.
    public static let never = RetryPolicy(maximumAttempts: 1)

    /// The first wait, before jitter. Half a second for a custom strategy.
    public var baseDelay: Duration { min(strategy.baseDelay.clamped, maximumDelay) }

    /// Sends the request until it succeeds, fails for good, or the attempts of its call are used up.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request
        let policy = policy(for: request)
        try policy.addKey(to: &request)
        policy.limit?.countCall()
        if request.call == nil, policy.fault(of: request) == nil { request.call = CallRecord([]) }
        let left = policy.timeLeft(of: request)
        while true {
            let result: Result<NetworkResponse, NetworkError>
            do {
                let response = try await next(request)
                guard policy.mayGoOn(after: response) else { return response }
                result = .success(response)
            } catch var error as NetworkError {
                error.attempts = max(request.call?.attempts ?? 1, error.attempts)
                result = .failure(error)
            }
            guard policy.fault(of: request) == nil,
                try await policy.goesOn(after: result, of: request, within: left)
            else { return try result.get() }
        }
    }

    /// What the request asks for, or else what is usual for its kind of call, over what is shared by all of them.
    func policy(for request: NetworkRequest, usually usual: RetryPolicy? = nil) -> RetryPolicy {
        guard var own = request.options.retry ?? usual else { return self }
        own.clock = clock
        own.now = now
        own.limit = own.limit ?? limit
        own.addsIdempotencyKeys = own.addsIdempotencyKeys || addsIdempotencyKeys
        return own
    }

    @discardableResult
    private func addKey(to request: inout NetworkRequest) throws(NetworkError) -> Bool {
        let asked = request.options.idempotencyKey
        guard asked != nil || addsIdempotencyKeys && !methods.contains(request.method) else { return false }
        guard !request.headers.contains(IdempotencyKey.field) else { return false }
        let text = (asked ?? .unique).text
        // To a server that takes it, all requests with it would be the same one; to others it is none.
        guard !text.trimmedOfBlanks.isEmpty else {
            throw NetworkError(.invalidRequest, reason: "the idempotency key is empty")
        }
        request.headers[IdempotencyKey.field] = text
        return true
    }

    /// Why a request is never sent again; nil when it may be.
    func fault(of request: NetworkRequest) -> String? {
        guard maximumAttempts > 1 else { return "the policy allows one attempt" }
        guard request.body.isReplayable else { return "its body cannot be sent twice" }
        guard methods.contains(request.method) || request.headers[IdempotencyKey.field]?.isEmpty == false else {
            return "\(request.method) is not retried without \(IdempotencyKey.field)"
        }
        return nil
    }
}
