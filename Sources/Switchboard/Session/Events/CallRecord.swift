/// What happened so far in one call of a router. A request and its copies carry it along.
final class CallRecord: Sendable {
    private struct State {
        var count = 0
        var history: [RequestMetrics] = []
        var cause: String?
        var isOver = false
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

    var history: [RequestMetrics] {
        state.withLock { $0.history }.sorted { $0.number < $1.number }
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

    /// Performs one exchange, and notes it.
    func exchange(
        _ request: NetworkRequest, since began: ContinuousClock.Instant = .now,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        let (number, why) = state.withLock { state in
            state.count += 1
            defer { state.cause = nil }
            return (state.count, state.cause)
        }
        let cause = request.departures.text.map { text in why.map { $0 + " " + text } ?? text } ?? why
        tell(.attempt(number), request)
        func note(_ outcome: RequestMetrics.Outcome, _ response: NetworkResponse? = nil) {
            // A record in its own history would keep itself alive.
            var sent = request
            sent.call = nil
            let metrics = RequestMetrics(
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
