import Foundation
import SwitchboardPlatform

/// One call of a router: its cancellation from outside its task, its attempts, and its exchanges. A request and its
/// copies share it. A part of a call that can be canceled alone, such as a download with a ``TransferProgress``, is a
/// call inside it, without monitors or a record.
///
/// A call runs in its caller's task, because a separate task would cost two more thread switches for each call.
/// `Router.cancel()` cannot cancel that task. It cancels this object instead, which every waiting operation of a call
/// observes: sessions, and waits between attempts.
package final class Call: @unchecked Sendable {  // the locks of `state` and of `CallsInFlight` guard its values
    @TaskLocal package static var current: Call?

    struct State {
        var isCancelled = false
        var nextID = 0
        var handlers: [(id: Int, run: @Sendable () -> Void)] = []
        var parent: Call?
        var exchangeCount = 0
        var history: [ExchangeRecord] = []
        /// The statuses of responses to equal requests of other calls.
        var sharedStatuses: Set<Int> = []
        /// The URLs, as a cache compares them, whose stored redirect the call has received.
        var storedRedirects: Set<String> = []
        var nextCause: String?
        /// The fields that were last reported as left out for another origin, in words.
        var omission: String?
        var isOver = false
        var attempts = 1
        var totalAttempts = 1
        var attemptLimit = Int.max
        var thrower: (type: String?, error: ObjectIdentifier)?
    }

    /// The maximum number of recorded exchanges, so that an endless call does not exhaust memory.
    private static let limit = 100

    let state: Protected<State>
    /// The index in ``CallsInFlight``, guarded by its lock. Nil for a call that is not in the list.
    @exclusivity(unchecked) var index: Int?
    private let hasParent: Bool
    private let start: ContinuousClock.Instant
    private let monitors: [any EventMonitor]
    /// The environment of the monitors. Nil without monitors, or for code that no manager runs.
    fileprivate let environment: CallEnvironment?
    /// A closure that returns the time since the start of the call, on the clock of the total timeout. Nil without such
    /// a timeout.
    let elapsed: (@Sendable () -> Duration)?
    /// Whether the call sends several requests, so that no response ends it.
    let isLong: Bool

    /// Creates a call. `parent` is the call that contains it, such as the download of a request.
    package init(
        _ monitors: [any EventMonitor] = [], since start: ContinuousClock.Instant = .now,
        elapsed: (@Sendable () -> Duration)? = nil, isLong: Bool = false, parent: Call? = nil
    ) {
        self.isLong = isLong
        self.start = start
        self.monitors = monitors
        environment = monitors.isEmpty ? nil : .current
        self.elapsed = elapsed
        state = Protected(State(parent: parent))
        hasParent = parent != nil
    }

    // MARK: Cancellation

    /// Releases the parent. A response retains its call, and would retain the parent too.
    func releaseParent() {
        guard hasParent else { return }
        let parent = state.withLock { state in
            defer { state.parent = nil }
            return state.parent
        }
        withExtendedLifetime(parent) {}  // until the lock is released
    }

    /// Whether the running code is part of this call or of a call inside it.
    var containsRunningCode: Bool {
        var call = Self.current
        while let current = call {
            if current === self { return true }
            call = current.state.withLock { $0.parent }
        }
        return false
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler.run() }
    }

    /// Adds a handler that runs on cancellation, or runs it at once if the call is already canceled.
    func add(_ handler: @escaping @Sendable () -> Void) -> Int {
        let id: Int? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.nextID += 1
            state.handlers.append((state.nextID, handler))
            return state.nextID
        }
        if id == nil { handler() }
        return id ?? 0
    }

    func remove(_ id: Int) {
        state.withLock { state in
            if let index = state.handlers.lastIndex(where: { $0.id == id }) { state.handlers.remove(at: index) }
        }
    }

    /// Runs an operation as this call. Canceling the current call cancels this one.
    package func run<Output>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output
    ) async rethrows -> Output {
        guard let parent = Self.current else {
            return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
        }
        let id = parent.add { self.cancel() }
        defer { parent.remove(id) }
        return try await Self.$current.withValue(self, operation: operation, isolation: isolation)
    }

    package static func check() throws {
        try Task.checkCancellation()
        if current?.isCancelled == true { throw CancellationError() }
    }

    // MARK: Attempts and events

    package var history: [ExchangeRecord] {
        state.withLock { $0.history }.sorted { $0.number < $1.number }
    }

    /// Records the status of a response to another call, which this call receives too.
    package func recordShared(_ status: Int) {
        state.withLock { _ = $0.sharedStatuses.insert(status) }
    }

    /// Whether the server has answered an exchange of the call, or a shared one, with the status.
    package func hasReceived(_ status: Int) -> Bool {
        state.withLock { state in
            state.sharedStatuses.contains(status) || state.history.contains { $0.outcome == .status(status) }
        }
    }

    /// Records that a cache answered a request for this URL with a stored redirect.
    package func recordStoredRedirect(of url: String) {
        state.withLock { _ = $0.storedRedirects.insert(url) }
    }

    /// Whether the call has received the stored redirect of this URL.
    package func hasReceivedStoredRedirect(of url: String) -> Bool {
        state.withLock { $0.storedRedirects.contains(url) }
    }

    package var hasMonitors: Bool { !monitors.isEmpty }

    /// Whether the call has ended. A request of its response or error may then be sent again, as part of no call.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// The number of consecutive attempts without progress, shared by all code that resends requests.
    var attempts: Int { state.withLock { $0.attempts } }

    /// The number of all attempts, for the caller. Progress does not change it.
    package var totalAttempts: Int { state.withLock { $0.totalAttempts } }

    /// Counts one more attempt. Returns false if the limit is already reached. A nil limit keeps the previous limit.
    func takeAttempt(within limit: Int? = nil) -> Bool {
        state.withLock { state in
            state.attemptLimit = limit ?? state.attemptLimit
            guard state.attempts < state.attemptLimit else { return false }
            state.attempts += 1
            state.totalAttempts += 1
            return true
        }
    }

    /// Restarts the count of attempts, because the call made progress. `count` is 0 if the last attempt did not fail.
    func restartAttempts(at count: Int = 1) {
        state.withLock { $0.attempts = count }
    }

    /// Records the interceptor that threw an error other than a ``NetworkError``, or nil for the session. The outer
    /// interceptors rethrow the error, and do not replace the record.
    func recordThrower(_ interceptor: (any Sendable)?, of error: any Error) {
        let kind = ObjectIdentifier(type(of: error))
        let name = interceptor.map { String(describing: type(of: $0)) }
        state.withLock { if $0.thrower?.error != kind { $0.thrower = (name, kind) } }
    }

    /// Records the interceptor that threw an error to another call, which shares its request with this one.
    package func recordThrower(of error: any Error, from other: Call) {
        guard let thrower = other.state.withLock({ $0.thrower }), thrower.error == ObjectIdentifier(type(of: error))
        else { return }
        state.withLock { $0.thrower = thrower }
    }

    /// Returns the type of the interceptor that threw an error, or nil if it is not recorded.
    func thrower(of error: any Error) -> String? {
        state.withLock { $0.thrower?.error == ObjectIdentifier(type(of: error)) ? $0.thrower?.type : nil }
    }

    /// Ends the call and reports its result to the monitors: a status, an error or a `CancellationError`.
    func end(_ result: Result<Int, any Error>, _ request: NetworkRequest) {
        guard !monitors.isEmpty else { return state.withLock { $0.isOver = true } }
        switch result {
        case .success(let statusCode): report(.finished(statusCode: statusCode), request)
        case .failure(let error):
            if error is CancellationError || (error as? NetworkError)?.code == .cancelled {
                report(.cancelled, request)
            } else {
                report(.failed(error as? NetworkError ?? NetworkError(.unknown, underlying: error)), request)
            }
        }
    }

    /// Records an event as the cause of the next exchange, if it can be one.
    func recordCause(_ kind: CallEvent.Kind) {
        if let cause = kind.cause { state.withLock { $0.nextCause = cause } }
    }

    /// Reports an event to the monitors. Without monitors, the event is not even created. Events after the end of the
    /// call are dropped, because an exchange that other calls share may continue without this call.
    func report(_ makeKind: @autoclosure () -> CallEvent.Kind, _ request: NetworkRequest) {
        guard !monitors.isEmpty else { return }
        report(makeKind(), request, with: nil)
    }

    func report(
        _ kind: CallEvent.Kind, _ request: NetworkRequest, with response: NetworkResponse?,
        _ role: CallEvent.CacheRole? = nil
    ) {
        let isLate = state.withLock { state in
            defer { if kind.isLast { state.isOver = true } }
            return state.isOver
        }
        guard !isLate else { return }
        let event = CallEvent(
            kind: kind, request: request, elapsed: .now - start, response: response?.withoutExchange, cacheRole: role)
        // A request that a monitor starts is not part of the call, whose cancellation would cancel it.
        Self.$current.withValue(nil) {
            for monitor in monitors { monitor.record(event) }
        }
    }

    // MARK: Exchanges

    /// Sends a request as one exchange. If the session's connection was dead, sends it as a second exchange ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)). Records both.
    func exchange(
        _ request: NetworkRequest, since start: ContinuousClock.Instant = .now,
        _ send: (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        var (request, start) = (request, start)
        while true {
            let exchange = begin(request, at: start)
            do {
                let response = try await send(request)
                exchange.end(response)
                guard request.isReplay else { return response }
                var final = response
                final.request?.isReplay = false
                return final
            } catch {
                let code = error is CancellationError ? .cancelled : (error as? NetworkError)?.code ?? .unknown
                exchange.end(code == .cancelled ? .cancelled : .failure(code), error as? NetworkError)
                guard let copy = replay(of: request, after: error) else { throw error }
                try Call.check()
                (request, start) = (copy, .now)
            }
        }
    }

    /// Returns the request for its session to send again, or nil if the error is final.
    private func replay(of request: NetworkRequest, after error: any Error) -> NetworkRequest? {
        guard let replay = (error as? NetworkError)?.replay, request.mayBeReplayed(replay), takeAttempt()
        else { return nil }
        var copy = request
        copy.call = self
        copy.isReplay = true
        copy.report(.retry(after: .zero, because: replay.rawValue))
        return copy
    }

    private struct Exchange {
        let call: Call
        let request: NetworkRequest
        let number: Int
        let cause: String?
        let start: ContinuousClock.Instant

        func end(_ response: NetworkResponse) {
            let record = add(.status(response.statusCode), response.measured)
            call.report(.exchangeEnded(record, response: response.withoutExchange), request)
        }

        /// Records the end without a complete response.
        func end(_ outcome: ExchangeRecord.Outcome, _ error: NetworkError?) {
            let record = add(outcome, nil, isOffline: error?.isOffline ?? false)
            guard call.hasMonitors else { return }
            call.report(.exchangeEnded(record, response: nil), request, with: error?.partialResponse)
        }

        private func add(
            _ outcome: ExchangeRecord.Outcome, _ measured: CopyOnWrite<ExchangeMetrics>?, isOffline: Bool = false
        ) -> ExchangeRecord {
            // A record retains its request, and the request would retain the history.
            var sent = request
            sent.call = nil
            let record = ExchangeRecord(
                number: number, request: sent, cause: cause, start: start - call.start, duration: .now - start,
                outcome: outcome, measured: measured, isOffline: isOffline)
            if number <= Call.limit { call.state.withLock { $0.history.append(record) } }
            return record
        }
    }

    private func begin(_ request: NetworkRequest, at start: ContinuousClock.Instant) -> Exchange {
        let (number, reported) = state.withLock { state in
            state.exchangeCount += 1
            defer { state.nextCause = nil }
            return (state.exchangeCount, state.nextCause)
        }
        let cause = newOmission(of: request).map { omission in reported.map { "\($0) \(omission)" } ?? omission }
        report(.exchangeStarted(number: number), request)
        return Exchange(call: self, request: request, number: number, cause: cause ?? reported, start: start)
    }

    /// Returns the fields that a request leaves out for another origin, in words. Nil if that was reported already.
    private func newOmission(of request: NetworkRequest) -> String? {
        guard let text = request.crossOriginHops.text else { return nil }
        return state.withLock { state in
            guard state.omission != text else { return nil }
            state.omission = text
            return text
        }
    }
}

/// Runs an operation. Canceling the task or the current call runs `onCancel`, at most twice.
package func withCancellation<Output>(
    isolation: isolated (any Actor)? = #isolation, _ operation: () async throws -> Output,
    onCancel: @escaping @Sendable () -> Void
) async throws -> Output {
    guard let call = Call.current else {
        return try await withTaskCancellationHandler(operation: operation, onCancel: onCancel)
    }
    let id = call.add(onCancel)
    defer { call.remove(id) }
    return try await withTaskCancellationHandler(operation: operation, onCancel: onCancel)
}

/// Runs code that does not observe ``Call`` in a separate task, so that it can be canceled.
package func withOwnTask<Output: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Output
) async throws -> Output {
    guard Call.current != nil else { return try await operation() }
    let task = startTask(operation)
    return try await withCancellation {
        try await task.value
    } onCancel: {
        task.cancel()
    }
}

/// Returns a value that a closure of the app has changed, in a separate task; see ``withOwnTask(_:)``.
package func changed<Value: Sendable>(
    _ value: Value, by change: @escaping @Sendable (inout Value) async throws -> Void
) async throws -> Value {
    try await withOwnTask {
        var value = value
        try await change(&value)
        return value
    }
}

extension NetworkRequest {
    /// Whether the session may send the request again: it is idempotent ([RFC 9110
    /// §9.2.2](https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2)), and it was not sent again before.
    var mayBeReplayed: Bool { method.isIdempotent && mayBeReplayedUnprocessed }

    /// Whether the session may send a request again that the server has certainly not processed ([RFC 9113
    /// §8.7](https://www.rfc-editor.org/rfc/rfc9113#section-8.7)).
    var mayBeReplayedUnprocessed: Bool { !isReplay && body.isReplayable }

    /// A call asks too, because the error may be that of another request, which a session sent within the exchange.
    func mayBeReplayed(_ replay: Replay) -> Bool {
        replay == .unprocessed ? mayBeReplayedUnprocessed : mayBeReplayed
    }
}

extension CallEvent.Kind {
    var isLast: Bool {
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
        case .authentication(let step): step
        default: nil
        }
    }
}

extension NetworkResponse {
    /// The response with an empty stream in place of its own, which a monitor that keeps events would keep open.
    fileprivate var withoutExchange: NetworkResponse {
        guard stream != nil else { return self }
        var response = self
        response.stream = ResponseBytes(Data())
        return response
    }

    /// Reads the response as the last step of its call, and reports the end of the call to the monitors, with the error
    /// of the closure or the status. A stream ends the call at its own end.
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
        (call.environment ?? callEnvironment).run { call.end(result, self) }
    }
}
