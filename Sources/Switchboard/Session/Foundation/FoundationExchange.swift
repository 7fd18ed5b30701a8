import SwitchboardPlatform
import Foundation

/// One request in flight in a ``FoundationSession``. Collects the response and ends exactly once.
///
/// URLSession's callbacks, the deadline sweeper and the caller's cancellation use it from three threads. The first to
/// end the exchange determines its result, and later attempts to end it have no effect.
final class FoundationExchange: Sendable {
    private struct State {
        var continuation: CheckedContinuation<NetworkResponse, any Error>?
        var task: URLSessionDataTask?
        var isOver = false
        /// The error of a canceled task, and the latest time at which the caller gets it. Nil until the cancel is made.
        var failure: (error: any Error, deadline: SuspendingClock.Instant?)?
        var response: NetworkResponse?
        /// The body received so far, unless a reader streams it.
        var body = Data()
        var count: Int64 = 0
        var pipe: BytePipe?
        /// The boundaries of a body that URLSession splits.
        var parts: ReplacedParts?
        var firstByte: Duration?
        var lastActivity: SuspendingClock.Instant
        /// Whether a challenge was declined. The error that follows then means that the received 401 or 407 is the
        /// response.
        var isChallengeDeclined = false
    }

    let request: NetworkRequest
    private let payload: RequestPayload?
    private let deadlines: DeadlineSweeper
    private let quirks: URLSessionQuirks
    private let start: SuspendingClock.Instant
    private let startDate: Date
    private let state: Protected<State>
    /// True once the task is canceled. On Linux a redirect is answered under this lock, because an answer to a canceled
    /// task traps in Foundation.
    let isTaskCancelled = Protected(false)
    /// The queue that cancels tasks. Canceling on the caller's thread or in a callback would deadlock in Foundation.
    private static let cancelling = DispatchQueue(label: "Switchboard.FoundationSession.cancelling")
    /// The time in which URLSession reports the end of a canceled task.
    private static let gracePeriod = Duration.seconds(1)

    /// Creates an exchange. `start` is the time before its body was read.
    init(
        _ request: NetworkRequest, payload: RequestPayload?, _ deadlines: DeadlineSweeper,
        start: (SuspendingClock.Instant, Date) = (.now, Date()), quirks: URLSessionQuirks = .current
    ) {
        self.request = request
        self.payload = payload
        self.deadlines = deadlines
        (self.start, startDate) = start
        self.quirks = quirks
        state = Protected(State(lastActivity: .now))
    }

    // MARK: Start

    /// Stores the continuation. Returns false if the exchange was canceled before.
    func begin(_ continuation: CheckedContinuation<NetworkResponse, any Error>) -> Bool {
        let isOver = state.withLock { state in
            if !state.isOver { state.continuation = continuation }
            return state.isOver
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        return !isOver
    }

    /// Stores the task. Returns false if the exchange is already over.
    func attach(_ task: URLSessionDataTask) -> Bool {
        state.withLock { state in
            state.task = task
            return !state.isOver
        }
    }

    // MARK: URLSession's callbacks

    /// Receives the head of the response. Apple's systems report the head of each part of `multipart/x-mixed-replace`
    /// too
    /// ([documentation](https://developer.apple.com/documentation/foundation/urlsessiondatadelegate/urlsession(_:datatask:didreceive:completionhandler:))).
    func didReceive(_ response: URLResponse) {
        if let bytes = state.withLock({ $0.parts?.start(response) }) { return add(bytes) }
        guard let http = response as? HTTPURLResponse else {
            return abort(with: NetworkError(.invalidResponse, reason: "the response is not HTTP"))
        }
        // Interim responses are not the final one (RFC 9110 §15.2).
        guard !(100..<200).contains(http.statusCode) || http.statusCode == 101 else { return recordActivity() }
        var head = NetworkResponse(
            statusCode: http.statusCode, headers: HTTPHeaders(http), url: http.url ?? request.url)
        head.request = request
        guard state.withLock({ $0.pipe == nil }) else {
            return abort(with: NetworkError(.invalidResponse, reason: "a second response arrived in the body"))
        }
        let pipe = request.streams(head.statusCode) ? BytePipe(spillLimit: request.limits.downloadedFile) : nil
        let isOver = state.withLock { [head] state in
            state.response = head
            state.body = Data()  // drops the body of a response that a second round replaced
            state.count = 0
            state.parts = quirks.splitsReplacedParts ? ReplacedParts(head) : nil
            state.lastActivity = .now
            state.firstByte = .now - start
            if !state.isOver { state.pipe = pipe }
            return state.isOver
        }
        guard !isOver else { return }
        do throws(NetworkError) {
            try head.checkHeaders(request.limits)
            if let pipe { return stream(head, through: pipe) }
            guard let size = head.announcedSize(of: request.method), size > request.limits.responseBody else { return }
            throw request.limits.bodyTooLarge("Content-Length announces \(size) bytes")
        } catch {
            abort(with: error)
        }
    }

    /// Returns the head to the caller. Its reader receives the body from the pipe.
    private func stream(_ head: NetworkResponse, through pipe: BytePipe) {
        var response = head
        response.stream = ResponseBytes(FoundationBytes(pipe, self))
        response.metrics.start = startDate
        let continuation = state.withLock { state -> CheckedContinuation<NetworkResponse, any Error>? in
            guard !state.isOver else { return nil }
            response.metrics.timeToFirstByte = state.firstByte
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: response)
    }

    /// Receives a response that URLSession did not report before the exchange ended. Its body is lost.
    func didReceiveUnreported(_ response: URLResponse) {
        let isReported = state.withLock { $0.response != nil }
        if !isReported { didReceive(response) }
    }

    func didReceive(_ data: Data) {
        let opening = state.withLock { state in
            state.count += Int64(data.count)
            return state.parts?.startFirstPart()
        }
        add(opening.map { $0 + data } ?? data)
    }

    private func add(_ data: Data) {
        do {
            let pipe = try state.withLock { state -> BytePipe? in
                guard !state.isOver else { return nil }
                state.lastActivity = .now
                if state.pipe == nil {
                    guard state.body.count + data.count <= request.limits.responseBody else {
                        throw request.limits.bodyTooLarge("more than \(state.body.count) bytes arrived")
                    }
                    state.body.append(data)
                }
                return state.pipe
            }
            // Called outside of the lock, because it resumes the reader, whose cancellation may wait for the lock.
            switch data.withUnsafeBytes({ pipe?.offer($0) }) {
            case .awaited?: pipe?.deliver()
            case .failed(let failure)?: throw failure.networkError
            case .buffered?, .full?, nil: break
            }
        } catch {
            abort(with: NetworkError.transport(error))
        }
    }

    func didComplete(with error: (any Error)?) {
        let hasResponse = state.withLock { $0.isChallengeDeclined && $0.response != nil }
        if let error, !hasResponse { return fail(failure(of: error)) }
        if let end = state.withLock({ $0.parts?.end }) { add(end) }
        let result: Result<NetworkResponse, NetworkError>? = state.withLock { state in
            guard !state.isOver else { return nil }
            guard var response = state.response else {
                return .failure(NetworkError(.invalidResponse, reason: "the connection ended without a response"))
            }
            if state.parts == nil, let announced = response.announcedLength(of: request.method),
                state.count < announced
            {
                return .failure(Self.truncated(state.count, of: announced))
            }
            response.body = state.body
            response.metrics.start = startDate
            response.metrics.duration = .now - start
            response.metrics.timeToFirstByte = state.firstByte
            response.metrics.bytesReceived = state.count
            state.response = response
            return .success(response)
        }
        switch result {
        case .success(let response): end(with: .success(response))
        case .failure(let error): fail(error)
        case nil: end(with: .failure(CancellationError()))
        }
    }

    private func failure(of error: any Error) -> NetworkError {
        let failure = URLErrorMapping.networkError(error, quirks: quirks)
        let (count, response) = state.withLock { ($0.count, $0.response) }
        guard quirks.truncatedBodyIsLostConnection, failure.code == .connectionLost, let response else {
            return failure
        }
        return Self.truncated(count, of: response.announcedLength(of: request.method), by: error)
    }

    private static func truncated(_ count: Int64, of length: Int64?, by error: (any Error)? = nil) -> NetworkError {
        let size = length.map { "\(count) of \($0)" } ?? "\(count)"
        return NetworkError(.truncatedBody, reason: "\(size) bytes arrived", underlying: error)
    }

    /// Declines a redirect, so that the 3xx response itself is returned. On Linux it does nothing once the task is
    /// canceled.
    func decline(redirect answer: @Sendable (URLRequest?) -> Void) {
        guard quirks.lateRedirectCompletionTraps else { return answer(nil) }
        isTaskCancelled.withLock { isTaskCancelled in
            if !isTaskCancelled { answer(nil) }
        }
    }

    func recordDeclinedChallenge() {
        state.withLock { $0.isChallengeDeclined = true }
    }

    /// The measurements, or nil until the whole body has arrived.
    var metrics: ExchangeMetrics? {
        state.withLock { $0.response?.metrics.duration == nil ? nil : $0.response?.metrics }
    }

    func didSend(_ count: Int64) {
        recordActivity()
        if payload != nil { request.options.onBodySent?(count) }
    }

    func recordActivity() {
        state.withLock { $0.lastActivity = .now }
    }

    func makeBodyStream() -> InputStream? {
        payload?.makeInputStream()
    }

    // MARK: End

    /// Ends with a `CancellationError` and closes the connection, unless the exchange is over.
    func cancel() { close(with: CancellationError()) }

    func fail(_ error: NetworkError) { end(with: .failure(attributed(error))) }

    private func abort(with error: NetworkError) { close(with: attributed(error)) }

    private func attributed(_ error: NetworkError) -> NetworkError {
        let partial = state.withLock { state in
            guard var response = state.response else { return nil as NetworkResponse? }
            response.body = state.body
            return response
        }
        let error = error.attributed(to: request)
        return partial.map(error.with) ?? error
    }

    /// Ends with an error and cancels the task.
    ///
    /// URLSession may still send a request that waits for a connection. So the caller gets the error when the task has
    /// ended, or a second after its cancel if URLSession never reports the end.
    private func close(with error: any Error) {
        let (isFirst, pipe) = state.withLock { state in
            guard !state.isOver else { return (false, nil as BytePipe?) }
            state.isOver = true
            state.failure = (error, state.task == nil ? SuspendingClock.now + Self.gracePeriod : nil)
            defer { state.pipe = nil }
            return (true, state.pipe)
        }
        guard isFirst else { return }
        pipe?.end(error)
        deadlines.add(self)
        cancelTask()
    }

    /// Ends with a result, or with the error of ``close(with:)`` before.
    private func end(with result: Result<NetworkResponse, any Error>) {
        let (continuation, pipe, failure) = state.withLock { state in
            state.isOver = true
            defer { (state.continuation, state.pipe) = (nil, nil) }
            return (state.continuation, state.pipe, state.failure?.error)
        }
        continuation?.resume(with: failure.map { .failure($0) } ?? result)
        guard let pipe else { return }
        if case .failure(let error) = result { pipe.end(error) } else { pipe.end(nil) }
        deadlines.remove(self)
    }

    /// Cancels the task. A new one is then resumed, which sends nothing. Otherwise it would stay in its session.
    func cancelTask(isNew: Bool = false) {
        guard let task = state.withLock({ $0.task }) else { return }
        Self.cancelling.async { [self] in
            isTaskCancelled.withLock { $0 = true }
            task.cancel()
            if isNew { task.resume() }
            let isAwaited = state.withLock { state in
                state.failure?.deadline = SuspendingClock.now + Self.gracePeriod
                return state.continuation != nil
            }
            if isAwaited { deadlines.add(self) } else { deadlines.remove(self) }
        }
    }
}

// MARK: - Timeouts

extension FoundationExchange: DeadlineHolder {
    var deadline: SuspendingClock.Instant? {
        if let failure = state.withLock({ $0.failure }) { return failure.deadline }
        let idle = request.timeouts.idle.map { state.withLock { $0.lastActivity } + $0.clamped }
        let attempt = request.timeouts.attempt.map { start + $0.clamped }
        return [idle, attempt].compactMap { $0 }.min()
    }

    func deadlinePassed() {
        if state.withLock({ $0.failure != nil }) {
            end(with: .failure(CancellationError()))
        } else {
            abort(with: request.timeouts.error(since: start))
        }
    }
}
