import Foundation
import Switchboard
import SwitchboardPlatform

/// One WebSocket of a ``FoundationSession``. It ends exactly once.
///
/// URLSession reports the end of a connection in up to three ways and in any order: a failed receive, the server's close
/// code, and the task's completion. A receive may still deliver messages after the other two. So the socket ends when a
/// receive has failed and another report has arrived. Two seconds after the first report it waits no longer.
package final class FoundationSocket: SocketObserver {
    struct State {
        /// The caller that waits for the handshake.
        var continuation: CheckedContinuation<NetworkResponse, any Error>?
        var task: (any SocketTask)?
        var isOpen = false
        /// The events that wait for the reader.
        var events: [SocketEvent] = []
        var reader: CheckedContinuation<Void, Never>?
        /// The message that URLSession has not taken yet, by its number.
        var sender: (number: Int, continuation: CheckedContinuation<Void, any Error>)?
        var lastSender = 0
        /// The time of the receive that has delivered no message yet.
        var receiving: ContinuousClock.Instant?
        var report = Report()
        /// Runs at the first report.
        var onReport: (@Sendable () -> Void)?
        /// The Close frame that this side sent.
        var closing: SocketEvent?
        var end: Result<Void, any Error>?
    }

    /// The reports of URLSession about the end of the connection.
    struct Report {
        var time: ContinuousClock.Instant?
        /// The error of a receive.
        var failure: (any Error)?
        /// The server's Close frame.
        var close: SocketEvent?
        var isComplete = false
        /// The error of the task.
        var error: (any Error)?

        var isFinal: Bool { failure != nil && (close != nil || isComplete) }
    }

    let request: NetworkRequest
    let deadlines: DeadlineSweeper
    let start = ContinuousClock.now
    private let startDate = Date()
    let state = Protected(State())

    init(_ request: NetworkRequest, _ deadlines: DeadlineSweeper) {
        self.request = request
        self.deadlines = deadlines
    }

    // MARK: Start

    /// Takes the continuation. Returns false if the socket was canceled before.
    func begin(_ continuation: CheckedContinuation<NetworkResponse, any Error>) -> Bool {
        let isOver = state.withLock { state in
            if state.end == nil { state.continuation = continuation }
            return state.end != nil
        }
        if isOver { continuation.resume(throwing: CancellationError()) }
        return !isOver
    }

    /// Starts the handshake.
    func start(_ task: any SocketTask, limit: Int) {
        let isOver = state.withLock { state in
            state.task = task
            return state.end != nil
        }
        deadlines.add(self)
        // URLSession may refuse a message that reaches its limit. The reader of the frames has the exact one.
        task.start(for: self, limit: max(0, min(limit, .max - 1)) + 1)
        // A canceled task must run too, or its session would keep it.
        if isOver { task.cancel() }
    }

    // MARK: URLSession's callbacks

    /// Ends the handshake. Foundation on Linux also reports a refused handshake as open.
    package func didOpen(with subprotocol: String?, _ response: URLResponse?) {
        var head = head((response as? HTTPURLResponse)?.statusCode ?? 101, response)
        guard head.statusCode == 101 else { return refuse(with: head) }
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

    /// Takes the code and the reason of the server's Close frame. A code that stands for the lack of a frame is none.
    package func didClose(with code: Int, _ reason: Data?) {
        guard let code = UInt16(exactly: code), code >= 1000, code != 1006, code != 1015 else { return }
        note { $0.close = .close(code == 1005 ? nil : code, reason: reason ?? Data()) }
    }

    /// Takes the end of the task. Before the end of the handshake it is the answer.
    package func didComplete(with error: (any Error)?, _ response: URLResponse?) {
        guard state.withLock({ $0.isOpen }) else {
            let status = (response as? HTTPURLResponse)?.statusCode ?? 101
            guard status == 101 else { return refuse(with: head(status, response)) }
            let missing = NetworkError(.invalidResponse, reason: "the connection ended without a response")
            return fail(error.map { URLErrorMapping.networkError($0) } ?? missing)
        }
        note { report in
            report.isComplete = true
            report.error = error
        }
    }

    private func head(_ status: Int, _ response: URLResponse?) -> NetworkResponse {
        let headers = (response as? HTTPURLResponse).map { HTTPHeaders($0) } ?? [:]
        var head = NetworkResponse(status: status, headers: headers, url: request.url)
        head.request = request
        head.metrics.start = startDate
        head.metrics.timeToFirstByte = .now - start
        return head
    }

    /// Answers with a response other than a 101. URLSession does not deliver its body.
    private func refuse(with head: NetworkResponse) {
        do throws(NetworkError) {
            try head.checkHeaders(request.limits)
            finish(.failure(CancellationError()), answer: .success(head))
        } catch {
            fail(error)
        }
    }

    // MARK: End

    /// Ends the connection at once, unless it has ended.
    package func cancel() {
        finish(.failure(CancellationError()))
    }

    /// Ends with an error, and closes the connection.
    func fail(_ error: NetworkError) {
        finish(.failure(error))
    }

    /// Adds a report about the end, and ends the socket if nothing can follow.
    func note(_ change: (inout Report) -> Void) {
        let (isFinal, onReport) = state.withLock { state in
            change(&state.report)
            state.report.time = state.report.time ?? .now
            defer { state.onReport = nil }
            return (state.report.isFinal, state.onReport)
        }
        onReport?()
        if isFinal { endAsReported() } else { deadlines.add(self) }
    }

    /// Runs `body` when URLSession first reports an end of the connection, also before a receive asks for it.
    func whenReported(_ body: @escaping @Sendable () -> Void) {
        let isReported = state.withLock { state in
            let isReported = state.report.time != nil || state.end != nil
            if !isReported { state.onReport = body }
            return isReported
        }
        if isReported { body() }
    }

    /// Ends with a Close frame if there was one, or else with the reported error.
    func endAsReported() {
        let (report, closing) = state.withLock { ($0.report, $0.closing) }
        // URLSession does not always report the answer to a Close frame of this side.
        if let close = report.close ?? closing {
            finish(.success(()), after: close)
        } else if let error = report.error ?? report.failure {
            fail(Self.lost(error))
        } else {
            finish(.success(()))
        }
    }

    private static func lost(_ error: any Error) -> NetworkError {
        if (error as? POSIXError)?.code == .EPROTO {
            return NetworkError(.invalidResponse, reason: "a frame violated the protocol", underlying: error)
        }
        let mapped = URLErrorMapping.networkError(error)
        guard mapped.code == .unknown || mapped.code == .cancelled else { return mapped }
        return NetworkError(.connectionLost, reason: mapped.reason, underlying: error)
    }

    private func finish(
        _ end: Result<Void, any Error>, after last: SocketEvent? = nil,
        answer: Result<NetworkResponse, any Error>? = nil
    ) {
        let ended = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            state.end = end
            if let last { state.events.append(last) }
            defer { (state.continuation, state.reader, state.sender, state.onReport) = (nil, nil, nil, nil) }
            return state
        }
        guard let ended else { return }
        deadlines.remove(self)
        ended.task?.cancel()
        ended.sender?.continuation.resume(throwing: CancellationError())
        ended.reader?.resume()
        ended.onReport?()
        ended.continuation?.resume(with: answer ?? end.flatMap { .failure(CancellationError()) })
    }
}
