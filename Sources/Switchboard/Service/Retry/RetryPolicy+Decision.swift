import SwitchboardPlatform
import Foundation

/// All that sends a call again asks here: the policy in a chain, downloads, uploads in pieces, and streams that connect
/// again. They draw from one number of attempts, that of ``NetworkRequest/call``.
extension RetryPolicy {
    /// How much of a call's total timeout is left.
    package typealias TimeLeft = @Sendable () -> Duration

    /// That of the call of a request; nil without such a timeout. A call began before its policy, and by the clock of its
    /// router: what has passed is what either clock says.
    func timeLeft(of request: NetworkRequest) -> TimeLeft? {
        if let shared = request.sharedTimeLeft { return shared }
        guard let total = request.timeouts.total else { return nil }
        let (call, policy) = (request.call?.elapsed, clock.stopwatch())
        return { total - max(policy(), call?() ?? .zero) }
    }

    /// Whether a call goes on after a result. Then the attempt is counted and reported, and its wait is over.
    func goesOn(
        after result: Result<NetworkResponse, NetworkError>, of request: NetworkRequest, within left: TimeLeft?
    ) async throws -> Bool {
        guard let wait = wait(after: result, of: request) else { return false }
        return try await goesOn(after: wait, because: result.text, with: request, within: left)
    }

    /// The same after a wait that somebody else has chosen.
    func goesOn(
        after wait: Duration, because cause: String, with request: NetworkRequest, within left: TimeLeft? = nil
    ) async throws -> Bool {
        guard let call = request.call else { return false }
        if let reason = objection(to: wait, call.attempts, left) {
            request.report(.note("not retried: \(reason)"))
            return false
        }
        guard call.takeAttempt(within: maximumAttempts) else { return false }
        request.report(.retry(after: wait, because: cause))
        try await withOwnTask { [clock] in try await clock.sleep(for: wait) }
        try CallCancellation.check()
        return true
    }

    /// Why there is no further attempt; nil when there is one, which the budget has then paid for.
    private func objection(to wait: Duration, _ attempts: Int, _ left: TimeLeft?) -> String? {
        guard attempts < maximumAttempts else { return "\(attempts) attempts were made" }
        guard wait <= maximumDelay else { return "the server asks for a longer wait than \(maximumDelay.secondsText)" }
        if let left, wait >= left() { return "a wait of \(wait.secondsText) would exceed the total timeout" }
        // A stream whose connection ended as it should is not retried.
        return attempts > 0 && limit?.takeRetry() == false ? "the retry budget is used up" : nil
    }

    /// The strategy's wait, or the longer one that a server asks for; nil after a result that stands. A custom strategy
    /// has looked itself.
    private func wait(after result: Result<NetworkResponse, NetworkError>, of request: NetworkRequest) -> Duration? {
        guard !result.isOver, strategy.isCustom || mayPass(result),
            let wait = strategy.delay(request.call?.attempts ?? 1, request, result, upTo: maximumDelay)
        else { return nil }
        guard !strategy.isCustom, case .success(let response) = result, let asked = response.retryAfter(now: now())
        else { return wait }
        return max(wait, asked)
    }

    /// Whether the policy may send the request again after this response.
    func mayGoOn(after response: NetworkResponse) -> Bool {
        strategy.isCustom || statuses.contains(response.statusCode)
    }

    private func mayPass(_ result: Result<NetworkResponse, NetworkError>) -> Bool {
        switch result {
        case .success(let response): statuses.contains(response.statusCode)
        case .failure(let error): errorCodes.contains(error.code)
        }
    }
}

extension Result<NetworkResponse, NetworkError> {
    /// Whether nothing may follow it: a cancellation, or a reset.
    fileprivate var isOver: Bool {
        if case .failure(let error) = self { error.code == .cancelled || error.code == .resetInProgress } else { false }
    }

    /// `HTTP 503` or `timedOut`.
    fileprivate var text: String {
        switch self {
        case .success(let response): "HTTP \(response.statusCode)"
        case .failure(let error): error.code.description
        }
    }
}

extension NetworkRequest {
    /// How much of its total timeout is left by the clock of its router; nil without one.
    package var timeLeft: RetryPolicy.TimeLeft? {
        guard let total = timeouts.total, let elapsed = call?.elapsed else { return nil }
        return { total - elapsed() }
    }

    /// How much time is left for a request that several calls share.
    package var sharedTimeLeft: RetryPolicy.TimeLeft? {
        get { self[SharedTimeLeft.self] }
        set { self[SharedTimeLeft.self] = newValue }
    }
}

private enum SharedTimeLeft: RequestOption { static let defaultValue: RetryPolicy.TimeLeft? = nil }
