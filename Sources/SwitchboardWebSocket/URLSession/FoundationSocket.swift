import Foundation
import Switchboard
import SwitchboardPlatform

/// One WebSocket of a ``FoundationSession``. It ends exactly once.
///
/// URLSession reports the end of a connection in up to three ways and in any order: a failed receive, the server's close
/// code, and the task's completion. A receive may still deliver messages after the other two. So the socket ends after a
/// failed receive and one other report, or two seconds after the later of the first report and the start of the pending
/// receive.
package final class FoundationSocket: SocketObserver {
    fileprivate struct State {
        /// The caller that waits for the handshake.
        var continuation: CheckedContinuation<NetworkResponse, any Error>?
        var task: (any SocketTask)?
        var isOpen = false
        /// The events that wait for the reader.
        var events: [Result<WebSocketEvent, WebSocketViolation>] = []
        var readers = WaitingTasks()
        var endWaiters = WaitingTasks()
        /// The sender of the message that URLSession has not accepted yet, and the number of the message.
        var sender: Sender?
        var lastSender = 0
        /// The start of the pending receive.
        var receiving: SuspendingClock.Instant?
        var report = Report()
        /// Runs at the first report.
        var onReport: (@Sendable () -> Void)?
        /// The Close frame that this side sent.
        var closing: WebSocketEvent?
        var end: Result<Void, any Error>?
    }

    fileprivate struct Sender {
        let number: Int
        let continuation: CheckedContinuation<Void, any Error>
        /// Runs when URLSession has accepted the message.
        let onSent: @Sendable () -> Void
    }

    /// The reports of URLSession about the end of the connection.
    fileprivate struct Report {
        var time: SuspendingClock.Instant?
        /// The error of a receive.
        var failure: (any Error)?
        /// The server's Close frame.
        var close: Result<WebSocketEvent, WebSocketViolation>?
        var isComplete = false
        /// The error of the task.
        var error: (any Error)?
        /// The error of a message that could not be sent.
        var sendError: (any Error)?

        var isFinal: Bool { failure != nil && (close != nil || isComplete) }
    }

    /// The time for URLSession's other reports after the first one, and for each receive after it. For tests.
    @TaskLocal package static var gracePeriod = Duration.seconds(2)

    let request: NetworkRequest
    private let gracePeriod = FoundationSocket.gracePeriod
    /// The largest message to receive, in bytes.
    private let limit: Int
    private let deadlines: DeadlineSweeper
    private let start = SuspendingClock.now
    private let startDate = Date()
    private let state = Protected(State())

    init(_ request: NetworkRequest, _ deadlines: DeadlineSweeper) {
        self.request = request
        limit = max(0, request.options.webSocket.messageLimit)
        self.deadlines = deadlines
    }

    // MARK: Start

    /// Stores the continuation of the handshake. Returns false if the socket was already canceled.
    func begin(_ continuation: CheckedContinuation<NetworkResponse, any Error>) -> Bool {
        let isOver = state.withLock { state in
            if state.end == nil { state.continuation = continuation }
            return state.end != nil
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        return !isOver
    }

    func start(_ task: any SocketTask) {
        let isOver = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        deadlines.add(self)
        // URLSession may reject a message of exactly its limit.
        task.start(for: self, limit: min(limit, .max - 1) + 1)
        // A canceled task was resumed too. Otherwise its session would never release it.
        if isOver { task.cancel() }
    }

    // MARK: URLSession's callbacks

    /// Ends the handshake. Foundation on Linux also reports a refused handshake as open.
    package func didOpen(with subprotocol: String?, _ response: URLResponse?) {
        var head = head((response as? HTTPURLResponse)?.statusCode ?? 101, response)
        guard head.statusCode == 101 else { return reject(with: head) }
        if let subprotocol { head.headers["Sec-WebSocket-Protocol"] = subprotocol }
        let (continuation, cancelled) = state.withLock { state in
            state.isOpen = state.end == nil
            defer { state.continuation = nil }
            return (state.continuation, state.isOpen ? nil : state.task)
        }
        cancelled?.cancel()
        deadlines.remove(self)
        continuation?.resume(returning: head)
    }

    /// Records the server's Close frame. The codes 1006 and 1015 mean that there was no frame.
    package func didClose(with code: Int, _ reason: Data?) {
        guard let code = UInt16(exactly: code), code >= 1000, code != 1006, code != 1015 else { return }
        let close = Result { () throws(WebSocketViolation) in try WebSocketEvent(closing: code, reason ?? Data()) }
        record { $0.close = close }
    }

    /// Records the end of the task. During the handshake it is the result.
    package func didComplete(with error: (any Error)?, _ response: URLResponse?) {
        guard state.withLock({ $0.isOpen }) else {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 101
            guard status == 101 else { return reject(with: head(status, response)) }
            let missing = NetworkError(.invalidResponse, reason: "the connection ended without a response")
            return fail(error.map { URLErrorMapping.networkError($0) } ?? missing)
        }
        record { report in
            report.isComplete = true
            report.error = error
        }
    }

    private func head(_ status: Int, _ response: URLResponse?) -> NetworkResponse {
        let headers = (response as? HTTPURLResponse).map { HTTPHeaders($0) } ?? [:]
        var head = NetworkResponse(statusCode: status, headers: headers, url: request.url)
        head.request = request
        head.metrics.start = startDate
        head.metrics.timeToFirstByte = .now - start
        return head
    }

    /// Ends the handshake with a response other than a 101. URLSession does not deliver its body.
    private func reject(with head: NetworkResponse) {
        do throws(NetworkError) {
            try head.checkHeaders(request.limits)
            finish(.failure(CancellationError()), handshake: .success(head))
        } catch {
            fail(error)
        }
    }

    // MARK: End

    /// Ends the connection, unless it has ended.
    package func cancel() {
        finish(.failure(CancellationError()))
    }

    /// Waits until the connection has ended. Canceling the task ends it.
    package func waitForEnd() async {
        await state.wait(while: { $0.end == nil }, in: \.endWaiters)
        if Task.isCancelled { cancel() }
    }

    /// Ends with an error, and closes the connection.
    func fail(_ error: NetworkError) {
        finish(.failure(error))
    }

    /// Records a report about the end. Ends the socket if no message can follow.
    private func record(_ change: (inout Report) -> Void) {
        let (isFinal, onReport) = state.withLock { state in
            change(&state.report)
            state.report.time = state.report.time ?? .now
            defer { state.onReport = nil }
            return (state.report.isFinal, state.onReport)
        }
        onReport?()
        if isFinal { finishWithReport() } else { deadlines.add(self) }
    }

    /// Sets a closure that runs when URLSession first reports the end of the connection, even without a receive.
    func whenEndReported(_ body: @escaping @Sendable () -> Void) {
        let isReported = state.withLock { state in
            let isReported = state.report.time != nil || state.end != nil
            if !isReported { state.onReport = body }
            return isReported
        }
        if isReported { body() }
    }

    /// Ends with the Close frame of either side, or with the reported error.
    private func finishWithReport() {
        let (report, closing) = state.withLock { ($0.report, $0.closing) }
        // URLSession does not always report the Close frame in response to one of this side.
        if let close = report.close ?? closing.map({ .success($0) }) {
            finish(.success(()), after: close)
        } else if let error = report.error ?? report.failure ?? report.sendError {
            fail(Self.connectionError(error))
        } else {
            finish(.success(()))
        }
    }

    private static func connectionError(_ error: any Error) -> NetworkError {
        if (error as? POSIXError)?.code == .EPROTO {
            return NetworkError(.invalidResponse, reason: "a frame violated the protocol", underlying: error)
        }
        let mapped = URLErrorMapping.networkError(error)
        guard mapped.code == .unknown || mapped.code == .cancelled else { return mapped }
        return NetworkError(.connectionLost, reason: mapped.reason, underlying: error)
    }

    private func finish(
        _ end: Result<Void, any Error>, after last: Result<WebSocketEvent, WebSocketViolation>? = nil,
        handshake: Result<NetworkResponse, any Error>? = nil
    ) {
        let ended = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            state.end = end
            if let last { state.events.append(last) }
            defer {
                (state.continuation, state.sender, state.onReport) = (nil, nil, nil)
                (state.readers, state.endWaiters) = (.init(), .init())
            }
            return state
        }
        guard let ended else { return }
        deadlines.remove(self)
        ended.task?.cancel()
        ended.sender?.continuation.resume(throwing: CancellationError())
        ended.readers.resume()
        ended.endWaiters.resume()
        ended.onReport?()
        ended.continuation?.resume(with: handshake ?? end.flatMap { .failure(CancellationError()) })
    }
}

extension FoundationSocket {
    // MARK: Receiving

    /// Returns the next event, or nil when the connection ended. Only one task may call it at a time.
    ///
    /// - Throws: A `WebSocketViolation`, the error of the connection, or `CancellationError`.
    func next() async throws -> WebSocketEvent? {
        while true {
            let (event, end, receivingTask) = state.withLock { $0.takeNext() }
            if let event { return try event.get() }
            if let end {
                try end.get()
                return nil
            }
            if let receivingTask {
                receivingTask.receive { [self] in didReceive($0) }
                deadlines.add(self)
            }
            await state.wait(in: \.readers) { !$0.events.isEmpty || $0.end != nil }
            if Task.isCancelled { cancel() }
        }
    }

    private func didReceive(_ result: Result<WebSocketMessage, any Error>) {
        switch result {
        case .success(let message):
            add(message.size > limit ? .failure(.tooBig(limit)) : .success(.message(message)), isReceived: true)
        case .failure(let error):
            if (error as? POSIXError)?.code == .EMSGSIZE { add(.failure(.tooBig(limit))) }
            record { $0.failure = $0.failure ?? error }
        }
    }

    private func add(_ event: Result<WebSocketEvent, WebSocketViolation>, isReceived: Bool = false) {
        let reader = state.withLock { state -> WaitingTasks? in
            if isReceived { state.receiving = nil }
            guard state.end == nil else { return nil }
            state.events.append(event)
            return state.readers.take()
        }
        reader?.resume()
    }

    // MARK: Sending

    /// Sends a message, a ping or a Close frame. A message waits until URLSession has accepted it. Then `onSent` runs at
    /// once, because the end of the connection can overtake the task that waits.
    func send(_ event: WebSocketEvent, onSent: @escaping @Sendable () -> Void = {}) async throws {
        guard let task = state.withLock({ $0.end == nil ? $0.task : nil }) else { throw CancellationError() }
        switch event {
        case .message(let message): try await send(message, over: task, onSent: onSent)
        case .ping(let payload):
            task.ping { [self] error in
                if error == nil { add(.success(.pong(payload))) }
            }
        case .close(let code, _):
            state.withLock { $0.closing = event }
            task.close(code == .noStatusReceived ? 1000 : code.rawValue, reason: Data(event.frame.payload.dropFirst(2)))
        case .pong: break  // URLSession answers pings itself.
        }
    }

    private func send(
        _ message: WebSocketMessage, over task: any SocketTask, onSent: @escaping @Sendable () -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard state.end == nil else { return nil }
                state.lastSender += 1
                state.sender = Sender(number: state.lastSender, continuation: continuation, onSent: onSent)
                return state.lastSender
            }
            guard let number else { return continuation.resume(throwing: CancellationError()) }
            task.send(message) { [self] in didSend(number, $0) }
        }
    }

    /// Records that a message cannot be sent, so that the connection ends even if URLSession reports nothing else.
    func sendFailed(_ error: any Error) {
        if !(error is CancellationError) { record { $0.sendError = $0.sendError ?? error } }
    }

    /// Resumes the sender of a message, the first time.
    private func didSend(_ number: Int, _ error: (any Error)?) {
        let sender = state.withLock { state -> Sender? in
            guard state.sender?.number == number else { return nil }
            defer { state.sender = nil }
            return state.sender
        }
        guard let sender else { return }
        if let error { return sender.continuation.resume(throwing: error) }
        sender.onSent()
        sender.continuation.resume()
    }
}

extension FoundationSocket.State {
    /// Removes the first event. Without one, returns the end, or the task that must receive the next message now.
    fileprivate mutating func takeNext() -> (
        event: Result<WebSocketEvent, WebSocketViolation>?, end: Result<Void, any Error>?, (any SocketTask)?
    ) {
        if !events.isEmpty { return (events.removeFirst(), nil, nil) }
        // After a failed receive, the reports of URLSession end the socket.
        guard end == nil, receiving == nil, report.failure == nil, let task else { return (nil, end, nil) }
        receiving = .now
        return (nil, nil, task)
    }
}

extension FoundationSocket: DeadlineHolder {
    /// The end of the handshake's timeouts, or of the wait for URLSession's reports.
    package var deadline: SuspendingClock.Instant? {
        let timeouts = request.timeouts
        return state.withLock { state in
            guard state.isOpen else {
                return [timeouts.idle, timeouts.attempt].compactMap { $0.map { start + $0.clamped } }.min()
            }
            // Without a pending receive, messages may still follow.
            guard let time = state.report.time, let receiveStart = state.receiving else { return nil }
            // After a Close frame of this side, URLSession fails receives immediately. `webSocket.closeTimeout` limits the
            // wait for the server's frame.
            guard state.closing == nil || state.report.close != nil || state.report.isComplete else { return nil }
            // After a failed send alone, messages may still arrive, and must not delay the end.
            let report = state.report
            let isOnlySend = report.failure == nil && report.close == nil && !report.isComplete
            return (isOnlySend ? time : max(time, receiveStart)) + gracePeriod
        }
    }

    package func deadlinePassed() {
        let (isOpen, isReported) = state.withLock { ($0.isOpen, $0.report.time != nil) }
        if !isOpen { fail(request.timeouts.error(since: start)) } else if isReported { finishWithReport() }
    }
}
