import SwitchboardPlatform

/// The cancellation and the history of one call of a router. A request and its copies share it.
package final class CallRecord: CallCancellation, @unchecked Sendable {  // the lock of `state` guards the notes
    struct Notes {
        var count = 0
        var history: [ExchangeRecord] = []
        var cause: String?
        var isOver = false
        var attempts = 1
        var totalAttempts = 1
        var attemptLimit = Int.max
        var thrower: (type: String?, error: ObjectIdentifier)?
    }

    /// The maximum number of recorded exchanges, so that an endless call does not exhaust memory.
    private static let limit = 100

    private let start: ContinuousClock.Instant
    private let monitors: [any EventMonitor]
    /// A closure that returns the time since the start of the call, on the clock of the total timeout. Nil without such
    /// a timeout.
    let elapsed: (@Sendable () -> Duration)?
    /// Whether the call sends several requests, so that no response ends it.
    let isLong: Bool

    init(
        _ monitors: [any EventMonitor], since start: ContinuousClock.Instant = .now,
        elapsed: (@Sendable () -> Duration)? = nil, isLong: Bool = false, outer: CallCancellation? = nil
    ) {
        self.isLong = isLong
        self.start = start
        self.monitors = monitors
        self.elapsed = elapsed
        super.init(outer: outer)
    }

    private func withLock<Output>(_ body: (inout Notes) -> Output) -> Output {
        state.withLock { body(&$0.record) }
    }

    var history: [ExchangeRecord] {
        withLock { $0.history }.sorted { $0.number < $1.number }
    }

    var hasMonitors: Bool { !monitors.isEmpty }

    /// Whether the call has ended. A request of its response or error may then be sent again, as part of no call.
    var isOver: Bool { withLock { $0.isOver } }

    /// The number of consecutive attempts without progress. All code that resends requests shares this count.
    var attempts: Int { withLock { $0.attempts } }

    /// The number of all attempts, for the caller. Progress does not change it.
    var totalAttempts: Int { withLock { $0.totalAttempts } }

    /// Counts one more attempt. Returns false if the limit is already reached. A nil limit keeps the last one.
    func takeAttempt(within limit: Int? = nil) -> Bool {
        withLock { notes in
            notes.attemptLimit = limit ?? notes.attemptLimit
            guard notes.attempts < notes.attemptLimit else { return false }
            notes.attempts += 1
            notes.totalAttempts += 1
            return true
        }
    }

    /// Restarts the count of attempts, because the call made progress. `count` is 0 if the last attempt did not fail.
    func restartAttempts(at count: Int = 1) {
        withLock { $0.attempts = count }
    }

    /// Notes which interceptor threw an error of the app's own; nil for the session. The interceptors around it rethrow
    /// the error.
    func note(_ error: any Error, thrownBy interceptor: (any Sendable)?) {
        let kind = ObjectIdentifier(type(of: error))
        let name = interceptor.map { String(describing: type(of: $0)) }
        withLock { if $0.thrower?.error != kind { $0.thrower = (name, kind) } }
    }

    /// Returns the type of the interceptor that threw an error of the app's own, if one did.
    func thrower(of error: any Error) -> String? {
        withLock { $0.thrower?.error == ObjectIdentifier(type(of: error)) ? $0.thrower?.type : nil }
    }

    /// Ends the call and reports its result to the monitors: a status, an error or a `CancellationError`.
    func end(_ result: Result<Int, any Error>, _ request: NetworkRequest) {
        guard !monitors.isEmpty else { return withLock { $0.isOver = true } }
        switch result {
        case .success(let status): tell(.finished(status: status), request)
        case .failure(let error):
            if error is CancellationError || (error as? NetworkError)?.code == .cancelled {
                tell(.cancelled, request)
            } else {
                tell(.failed(error as? NetworkError ?? NetworkError(.unknown, underlying: error)), request)
            }
        }
    }

    /// Reports an event to the monitors, and records the cause of the next exchange.
    func report(_ kind: CallEvent.Kind, _ request: NetworkRequest) {
        if let cause = kind.cause { withLock { $0.cause = cause } }
        tell(kind, request)
    }

    /// Reports an event to the monitors. Without monitors, the event is not even created. Events after the end of the
    /// call are dropped, because an exchange that other calls share may continue without this call.
    func tell(_ makeKind: @autoclosure () -> CallEvent.Kind, _ request: NetworkRequest) {
        guard !monitors.isEmpty else { return }
        let kind = makeKind()
        let isLate = withLock { notes in
            defer { if kind.isLast { notes.isOver = true } }
            return notes.isOver
        }
        guard !isLate else { return }
        let event = CallEvent(kind: kind, request: request, elapsed: .now - start)
        for monitor in monitors { monitor.record(event) }
    }

    /// Sends a request as one exchange. If the session's connection was dead, sends it as a second exchange ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)). Records both.
    func exchange(
        _ request: NetworkRequest, since start: ContinuousClock.Instant = .now,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        var (request, began) = (request, start)
        while true {
            let exchange = begin(request, at: began)
            do {
                let response = try await send(request)
                exchange.end(.status(response.statusCode), response)
                guard request.repetition != nil else { return response }
                var answer = response
                answer.request?.repetition = nil
                return answer
            } catch {
                let code = error is CancellationError ? .cancelled : (error as? NetworkError)?.code ?? .unknown
                exchange.end(code == .cancelled ? .cancelled : .failure(code))
                guard let again = repeated(request, after: error) else { throw error }
                try CallCancellation.check()
                (request, began) = (again, .now)
            }
        }
    }

    /// Returns the request for its session to send again, or nil if the error is final.
    private func repeated(_ request: NetworkRequest, after error: any Error) -> NetworkRequest? {
        guard let repetition = (error as? NetworkError)?.repetition, request.mayBeRepeated(repetition), takeAttempt()
        else { return nil }
        var again = request
        again.call = self
        again.repetition = repetition
        again.report(.retry(after: .zero, because: repetition.rawValue))
        return again
    }

    /// An exchange in flight.
    private struct Exchange {
        let call: CallRecord
        let request: NetworkRequest
        let number: Int
        let cause: String?
        let began: ContinuousClock.Instant

        /// Records how the exchange ended. Called once.
        func end(_ outcome: ExchangeRecord.Outcome, _ response: @autoclosure () -> NetworkResponse? = nil) {
            // A record retains its request, and the request would retain the history.
            var sent = request
            sent.call = nil
            let record = ExchangeRecord(
                number: number, request: sent, cause: cause, start: began - call.start, duration: .now - began,
                outcome: outcome, measured: response()?.measured)
            if number <= CallRecord.limit { call.withLock { $0.history.append(record) } }
            call.tell(.exchanged(record, response: response()), request)
        }
    }

    private func begin(_ request: NetworkRequest, at began: ContinuousClock.Instant) -> Exchange {
        let (number, why) = withLock { notes in
            notes.count += 1
            defer { notes.cause = nil }
            return (notes.count, notes.cause)
        }
        let cause = request.departures.text.map { text in why.map { $0 + " " + text } ?? text } ?? why
        tell(.exchange(number), request)
        return Exchange(call: self, request: request, number: number, cause: cause, began: began)
    }
}

extension NetworkRequest {
    /// Whether the session may send the request again: a repetition has no further effect ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)), and it was not repeated before.
    var mayBeRepeated: Bool { method.isIdempotent && mayBeRepeatedUnprocessed }

    /// Whether the session may send a request again that the server has certainly not processed ([RFC 9113
    /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    var mayBeRepeatedUnprocessed: Bool { repetition == nil && body.isReplayable }

    func mayBeRepeated(_ repetition: Repetition) -> Bool {
        repetition == .unprocessed ? mayBeRepeatedUnprocessed : mayBeRepeated
    }
}

extension CallEvent.Kind {
    fileprivate var isLast: Bool {
        switch self {
        case .finished, .failed, .cancelled: true
        default: false
        }
    }

    /// The cause of the next exchange, if this event is one.
    fileprivate var cause: String? {
        switch self {
        case .retry(_, let cause): "retry after \(cause)"
        case .redirect: "redirect"
        case .authentication(let what): what
        default: nil
        }
    }
}

extension NetworkResponse {
    /// Reads the response as the last step of its call, and reports the call's end to the monitors: the error that the
    /// closure throws, or else the status. A body that is a stream ends the call when it ends.
    func endingCall<Output>(_ read: (NetworkResponse) throws -> Output) throws -> Output {
        do {
            let output = try read(self)
            endCall()
            return output
        } catch {
            endCall(with: error)
            throw error
        }
    }

    /// Reports the end of the call to the monitors. A second report is ignored.
    package func endCall(with error: (any Error)? = nil) {
        guard error != nil || stream == nil else { return }
        request?.endCall(error.map { .failure($0) } ?? .success(statusCode))
    }
}

extension NetworkRequest {
    /// Reports the end of the request's call to the monitors, unless the call sends more requests.
    package func endCall(_ result: Result<Int, any Error>) {
        guard let call, !call.isLong else { return }
        guard call.hasMonitors else { return call.end(result, self) }
        callEnvironment.run { call.end(result, self) }
    }
}
