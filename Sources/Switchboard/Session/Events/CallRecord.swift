import SwitchboardPlatform

/// What happened so far in one call of a router. A request and its copies carry it along.
package final class CallRecord: Sendable {
    private struct State {
        var count = 0
        var history: [ExchangeRecord] = []
        var cause: String?
        var isOver = false
        var attempts = 1
        var attemptLimit = Int.max
    }

    /// A call that is sent for ever must not fill the memory.
    private static let limit = 100

    private let start: ContinuousClock.Instant
    private let monitors: [any EventMonitor]
    /// How long ago the call began, by the clock that its total timeout is measured by; nil when it has none.
    let elapsed: (@Sendable () -> Duration)?
    private let state = Protected(State())

    init(
        _ monitors: [any EventMonitor], since start: ContinuousClock.Instant = .now,
        elapsed: (@Sendable () -> Duration)? = nil
    ) {
        self.start = start
        self.monitors = monitors
        self.elapsed = elapsed
    }

    var history: [ExchangeRecord] {
        state.withLock { $0.history }.sorted { $0.number < $1.number }
    }

    /// How often the call was sent in a row, without getting on meanwhile: every loop that sends again draws from it.
    var attempts: Int { state.withLock { $0.attempts } }

    /// Counts one more attempt; false when there were as many as the limit says. Without one the last limit counts.
    func takeAttempt(within limit: Int? = nil) -> Bool {
        state.withLock { state in
            state.attemptLimit = limit ?? state.attemptLimit
            guard state.attempts < state.attemptLimit else { return false }
            state.attempts += 1
            return true
        }
    }

    /// Begins a new row of attempts: the call got on. `count` is 0 when the last attempt did not fail.
    func restartAttempts(at count: Int = 1) {
        state.withLock { $0.attempts = count }
    }

    /// Tells the monitors how the call ended: with a status, an error, or a `CancellationError`.
    func end(_ result: Result<Int, any Error>, _ request: NetworkRequest) {
        switch result {
        case .success(let status): tell(.finished(status: status), request)
        case .failure(let error): tell((error as? NetworkError).map { .failed($0) } ?? .cancelled, request)
        }
    }

    /// Tells the monitors, and notes why the next exchange happens.
    func report(_ kind: CallEvent.Kind, _ request: NetworkRequest) {
        if let cause = kind.cause { state.withLock { $0.cause = cause } }
        tell(kind, request)
    }

    /// Tells the monitors; without any the event is not even made. Nothing is told after the end: an exchange that others
    /// share may go on without this call.
    func tell(_ makeKind: @autoclosure () -> CallEvent.Kind, _ request: NetworkRequest) {
        guard !monitors.isEmpty else { return }
        let kind = makeKind()
        let isLate = state.withLock { state in
            defer { if kind.isLast { state.isOver = true } }
            return state.isOver
        }
        guard !isLate else { return }
        let event = CallEvent(kind: kind, request: request, elapsed: .now - start)
        for monitor in monitors { monitor.record(event) }
    }

    /// Sends a request as one exchange, and as a second one when the first asks for it: its kept connection was dead ([RFC
    /// 9110 §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)). Both are noted.
    func exchange(
        _ request: NetworkRequest, since start: ContinuousClock.Instant = .now,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        do {
            return try await exchangeOnce(request, since: start, send)
        } catch let error as NetworkError {
            guard let repetition = error.repetition, request.mayBeRepeated, takeAttempt() else { throw error }
            var again = request
            again.call = self
            again.repetition = repetition
            again.report(.retry(after: .zero, because: repetition.rawValue))
            try CallCancellation.check()
            var response = try await exchangeOnce(again, since: .now, send)
            response.request?.repetition = nil
            return response
        }
    }

    private func exchangeOnce(
        _ request: NetworkRequest, since began: ContinuousClock.Instant,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        let (number, why) = state.withLock { state in
            state.count += 1
            defer { state.cause = nil }
            return (state.count, state.cause)
        }
        let cause = request.departures.text.map { text in why.map { $0 + " " + text } ?? text } ?? why
        tell(.exchange(number), request)
        func note(_ outcome: ExchangeRecord.Outcome, _ response: NetworkResponse? = nil) {
            // A record in its own history would keep itself alive.
            var sent = request
            sent.call = nil
            let metrics = ExchangeRecord(
                number: number, request: sent, cause: cause, start: began - start, duration: .now - began,
                outcome: outcome, exchange: response?.metrics)
            if number <= Self.limit { state.withLock { $0.history.append(metrics) } }
            tell(.exchanged(metrics, response: response), request)
        }
        do {
            let response = try await send(request)
            note(.status(response.statusCode), response)
            return response
        } catch {
            let isCancelled = error is CancellationError || (error as? NetworkError)?.code == .cancelled
            note(isCancelled ? .cancelled : .failure((error as? NetworkError)?.code ?? .unknown))
            throw error
        }
    }
}

extension NetworkRequest {
    /// Whether nothing is done twice when it is sent once more ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)), and it was not yet.
    var mayBeRepeated: Bool { repetition == nil && method.isIdempotent && body.isReplayable }
}

extension CallEvent.Kind {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed, .cancelled: true
        default: false
        }
    }

    /// Why the next exchange happens, when this says so.
    fileprivate var cause: String? {
        switch self {
        case .retry(_, let cause): "retry after \(cause)"
        case .redirect: "redirect"
        case .authentication(let what): what
        default: nil
        }
    }
}
