import SwitchboardPlatform
import Foundation

// The decisions about all retries: of a policy in a chain, downloads, uploads in pieces, and streams that reconnect.
// They share one count of attempts, in ``NetworkRequest/call``.
extension RetryPolicy {
    /// Returns the time left of a call's total timeout.
    package typealias TimeLeft = @Sendable () -> Duration

    /// Returns the time left for the call of a request, or nil without a total timeout. The router may have another
    /// clock than the policy: the longer of both measurements counts.
    func timeLeft(of request: NetworkRequest) -> TimeLeft? {
        if let shared = request.sharedTimeLeft { return shared }
        guard let total = request.timeouts.total else { return nil }
        let (call, policy) = (request.call?.elapsed, clock.stopwatch())
        return { total - max(policy(), call?() ?? .zero) }
    }

    /// Returns whether a request may be sent again. If not, reports the reason, unless the result is final.
    func allowsRetry(of request: NetworkRequest, after result: Result<NetworkResponse, NetworkError>) -> Bool {
        guard let reason = reasonNotToRetry(request) else { return true }
        if !result.isFinal, isRetryable(result) { request.report(.note("not retried: \(reason)")) }
        return false
    }

    /// Counts and reports the next attempt, and waits for it. Returns false when the result is final.
    func waitForRetry(
        after result: Result<NetworkResponse, NetworkError>, of request: NetworkRequest, within left: TimeLeft?
    ) async throws -> Bool {
        guard let wait = takeAttempt(after: result, of: request, within: left) else { return false }
        try await sleep(for: wait)
        return true
    }

    /// Waits. Throws `CancellationError` when the call is canceled.
    func sleep(for wait: Duration) async throws {
        try await withOwnTask { [clock] in try await clock.sleep(for: wait) }
        try Call.check()
    }

    // The next two are not inlined, because an asynchronous function has a copy of their code for each suspension.

    /// Counts and reports the next attempt. Returns the wait before it, or nil when the result is final.
    @inline(never)
    func takeAttempt(
        after result: Result<NetworkResponse, NetworkError>, of request: NetworkRequest, within left: TimeLeft?
    ) -> Duration? {
        guard let (wait, isRequested) = wait(after: result, of: request) else { return nil }
        let cause = isRequested ? "\(result.text) with Retry-After" : result.text
        return takeAttempt(after: wait, because: cause, with: request, within: left) ? wait : nil
    }

    /// Counts and reports the next attempt. Returns false when no attempt is allowed.
    @inline(never)
    func takeAttempt(
        after wait: Duration, because cause: String, with request: NetworkRequest, within left: TimeLeft?
    ) -> Bool {
        guard let call = request.call else { return false }
        if let reason = reasonNotToWait(wait, call.attempts, left) {
            request.report(.note("not retried: \(reason)"))
            return false
        }
        guard call.takeAttempt(within: maximumAttempts) else { return false }
        request.report(.retry(after: wait, because: cause))
        return true
    }

    /// Returns the reason why no attempt is allowed, or takes the cost from the retry budget and returns nil.
    private func reasonNotToWait(_ wait: Duration, _ attempts: Int, _ left: TimeLeft?) -> String? {
        guard attempts < maximumAttempts else { return "\(attempts) attempts were made" }
        guard wait <= maximumDelay else { return "the server asks for a longer wait than \(maximumDelay.secondsText)" }
        if let left, wait >= left() { return "a wait of \(wait.secondsText) would exceed the total timeout" }
        // A stream that reconnects after a regular end is not a retry.
        return attempts > 0 && budget?.takeRetry() == false ? "the retry budget is used up" : nil
    }

    /// Returns the strategy's wait, or a longer wait that the server requests, and whether `Retry-After` requests it.
    /// Nil when the result is final. A custom strategy reads the server's fields itself.
    private func wait(
        after result: Result<NetworkResponse, NetworkError>, of request: NetworkRequest
    ) -> (Duration, isRequested: Bool)? {
        guard !result.isFinal, strategy.isCustom || isRetryable(result),
            let wait = strategy.delay(request.call?.attempts ?? 1, request, result, upTo: maximumDelay)
        else { return nil }
        guard !strategy.isCustom, case .success(let response) = result, let requested = response.retryAfter(now: now())
        else { return (wait, false) }
        return (max(wait, requested), requested > wait && response.headers.contains("Retry-After"))
    }

    /// Returns whether the policy considers a retry after this response.
    func shouldRetry(after response: NetworkResponse) -> Bool {
        strategy.isCustom || statusCodes.contains(response.statusCode)
    }

    private func isRetryable(_ result: Result<NetworkResponse, NetworkError>) -> Bool {
        switch result {
        case .success(let response): statusCodes.contains(response.statusCode)
        case .failure(let error): errorCodes.contains(error.code)
        }
    }
}

extension Result<NetworkResponse, NetworkError> {
    /// Whether the result is a cancellation or a reset, which are never retried.
    fileprivate var isFinal: Bool {
        if case .failure(let error) = self { error.code == .cancelled || error.code == .resetInProgress } else { false }
    }

    /// The result as `HTTP 503` or `timedOut`.
    fileprivate var text: String {
        switch self {
        case .success(let response): "HTTP \(response.statusCode)"
        case .failure(let error): error.code.description
        }
    }
}

extension NetworkRequest {
    /// The time left of the total timeout, by the router's clock. Nil without a total timeout.
    package var timeLeft: RetryPolicy.TimeLeft? {
        guard let total = timeouts.total, let elapsed = call?.elapsed else { return nil }
        return { total - elapsed() }
    }

    /// The time left for a request that several calls share.
    package var sharedTimeLeft: RetryPolicy.TimeLeft? {
        get { self[SharedTimeLeft.self] }
        set { self[SharedTimeLeft.self] = newValue }
    }
}

private enum SharedTimeLeft: RequestOption { static let defaultValue: RetryPolicy.TimeLeft? = nil }
