import Foundation

extension RetryPolicy {
    /// What follows an attempt.
    enum Decision: Equatable {
        case again(after: Duration)
        /// The result stands, and why when it is one that could have been tried again.
        case final(String?)
    }

    /// Whether a request is sent again, which the budget then has paid for.
    func decision(
        after result: Result<NetworkResponse, NetworkError>, _ attempt: Int, of request: NetworkRequest,
        within deadline: RetryDeadline
    ) -> Decision {
        guard !result.isOver, let backoff = wait(after: result, attempt, of: request) else { return .final(nil) }
        guard attempt < maximumAttempts else { return .final("\(attempt) attempts were made") }
        guard let delay = kept(backoff, after: result) else {
            return .final("the server asks for a longer wait than \(maximumDelay.secondsText)")
        }
        guard deadline.allows(delay) else {
            return .final("a wait of \(delay.secondsText) would pass the end of the total timeout")
        }
        guard budget?.takeRetry() != false else { return .final("the retry budget is used up") }
        return .again(after: delay)
    }

    /// How long to wait after a response; nil when it is final.
    package func wait(after response: NetworkResponse, _ attempt: Int) -> Duration? {
        wait(after: .success(response), attempt, of: response.request).flatMap { kept($0, after: .success(response)) }
    }

    /// How long to wait after a failure that may pass; nil when a strategy of the app's gives up.
    package func backoff(_ attempt: Int, after error: NetworkError) -> Duration? {
        strategy.delay(attempt, error.request, .failure(error), upTo: maximumDelay)
    }

    /// The strategy's wait after a result that may pass; nil for any other.
    private func wait(
        after result: Result<NetworkResponse, NetworkError>, _ attempt: Int, of request: NetworkRequest?
    ) -> Duration? {
        guard strategy.isCustom || mayPass(result) else { return nil }
        return strategy.delay(attempt, request, result, upTo: maximumDelay)
    }

    private func mayPass(_ result: Result<NetworkResponse, NetworkError>) -> Bool {
        switch result {
        case .success(let response): statuses.contains(response.statusCode)
        case .failure(let error): errorCodes.contains(error.code)
        }
    }

    /// The wait, or the longer one that a server asks for; nil when that is too long. A custom strategy has looked
    /// itself.
    private func kept(_ backoff: Duration, after result: Result<NetworkResponse, NetworkError>) -> Duration? {
        guard !strategy.isCustom, case .success(let response) = result, let asked = response.retryAfter(now: now())
        else { return backoff }
        return asked > maximumDelay ? nil : max(backoff, asked)
    }
}

/// When the call of a request is over, as far as its total timeout says.
struct RetryDeadline {
    private let total: Duration?
    private let call: (@Sendable () -> Duration)?
    private let policy: (@Sendable () -> Duration)?

    init(of request: NetworkRequest, by clock: any Clock<Duration>) {
        total = request.timeouts.total
        call = total == nil ? nil : request.call?.elapsed
        policy = total == nil ? nil : clock.stopwatch()
    }

    /// Whether a wait ends before that. A call began before its policy, and by the clock of its router: what has passed
    /// is what either clock says.
    func allows(_ wait: Duration) -> Bool {
        guard let total else { return true }
        return wait < total - max(policy?() ?? .zero, call?() ?? .zero)
    }
}

extension Result<NetworkResponse, NetworkError> {
    /// Whether nothing may follow it: a cancellation, or a reset.
    fileprivate var isOver: Bool {
        if case .failure(let error) = self { error.code == .cancelled || error.code == .resetInProgress } else { false }
    }

    /// `HTTP 503` or `timedOut`.
    var text: String {
        switch self {
        case .success(let response): "HTTP \(response.statusCode)"
        case .failure(let error): error.code.description
        }
    }
}
