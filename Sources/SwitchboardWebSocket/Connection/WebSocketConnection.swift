import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

/// One connection of a WebSocket. It reads frames in a separate task, answers pings and closes.
final class WebSocketConnection: Sendable {
    struct State {
        /// The first Close frame, of either side.
        var closure: WebSocketClosure?
        var pings: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var lastPing: UInt64 = 0
        /// No ping before this one waits, so pongs need not examine them.
        var firstPing: UInt64 = 1
        var readTask: Task<Void, Never>?
        var pingTask: Task<Void, Never>?
        /// The error for later pings. Nil while the connection is open.
        var end: (any Error)?
        /// The error for later pings of a lost connection whose end is not read yet.
        var loss: (any Error)?
        /// Whether the server sent a ping or a pong.
        var hasPinged = false
        /// Whether nothing has arrived since the last ping of ``keepAlive(_:)``.
        var isSilent = false
        var endWaiters = WaitingTasks()
        /// Whether the monitors know the end.
        var isReported = false
    }

    let queue: SendQueue
    let inbox: Inbox
    let options: WebSocketOptions
    let clock: any Clock<Duration>
    private let request: NetworkRequest?
    /// Records the messages and the end for the monitors of the call and for a cassette. Nil without any.
    let recorder: (@Sendable (CallMessage) -> Void)?
    let state = Protected(State())

    init(_ queue: SendQueue, _ options: WebSocketOptions, _ request: NetworkRequest?, clock: any Clock<Duration>) {
        self.queue = queue
        self.options = options
        self.request = request
        recorder = request?.messageRecorder
        self.clock = clock
        inbox = Inbox(limit: max(1, options.receiveBufferLimit))
    }

    /// The first Close frame. Nil while the connection is open, and when it was lost.
    var closure: WebSocketClosure? { state.withLock { $0.closure } }

    var metrics: WebSocketMetrics {
        let (sent, received) = (queue.sent, inbox.received)
        return WebSocketMetrics(
            messagesSent: sent.messages, bytesSent: sent.bytes, messagesReceived: received.messages,
            bytesReceived: received.bytes)
    }

    /// Whether the server sent a message, a ping or a pong.
    var hasReceivedFrames: Bool { inbox.received.messages > 0 || state.withLock { $0.hasPinged } }

    // MARK: Running

    /// Starts to read the server's bytes, and to ping. `connection` sends on the sender's thread, and receives on the
    /// session's. It is nil if the session cannot do that.
    func start(_ bytes: ResponseBytes, _ frames: FrameCoding, over connection: (any UpgradedConnection)? = nil) {
        // A full inbox would hide the end of a lost connection.
        let isCompressed = frames.reader.decompresses
        queue.whenStopped { [weak self, inbox] in
            inbox.removeLimit(isCompressed: isCompressed)
            self?.endSendingIfHidden()
        }
        if let connection {
            connection.setReceiver { self.receive($0, frames) }
            frames.framer.send(over: connection)
        }
        start { await self.read(bytes, frames) }
    }

    /// Starts to send and receive the messages of a session that hides the frames. `bytes` end with the connection, and
    /// canceling their call ends the connection.
    func start(_ socket: FoundationSocket, _ bytes: ResponseBytes) {
        socket.whenEndReported { [inbox] in inbox.removeLimit() }
        start {
            async let end: Void = {
                _ = try? await bytes.next()
                socket.cancel()  // also if the call was canceled before this read
            }()
            await self.read(socket)
            await end
        }
    }

    private func start(reading: @escaping @Sendable () async -> Void) {
        if let recorder {
            queue.record { event in
                if let message = event.recorded(isSent: true) { recorder(message) }
            }
        }
        let readTask = Task { await reading() }
        let pingTask = options.pingInterval.flatMap { interval in
            interval > .zero ? Task { await self.keepAlive(interval) } : nil
        }
        let isEnded = state.withLock { state in
            if state.end == nil { (state.readTask, state.pingTask) = (readTask, pingTask) }
            return state.end != nil
        }
        if isEnded {
            readTask.cancel()
            pingTask?.cancel()
        }
    }

    /// Ends the connection: with an error, or with nil after a closing handshake.
    func end(_ failure: (any Error)?) {
        let failure = failure.map { failure in (failure as? NetworkError).map(attributed) ?? failure }
        let closed = failure ?? closedError
        let (pings, endWaiters, tasks) = state.withLock { state in
            if state.end == nil { state.end = closed }
            defer { (state.pings, state.readTask, state.pingTask) = ([:], nil, nil) }
            return (Array(state.pings.values), state.endWaiters.take(), [state.readTask, state.pingTask])
        }
        endMessages(failure.map { .failure($0) } ?? .success(()))
        queue.end(closed)
        for ping in pings { ping.resume(throwing: closed) }
        endWaiters.resume()
        for task in tasks { task?.cancel() }
    }

    /// Ends the senders and pings of a lost connection if unread messages hide its end, because the task that waits may
    /// be their reader.
    func endSendingIfHidden() {
        guard inbox.hidesEnd else { return }
        let loss = error(.connectionLost, "it was lost, and too many messages are unread to receive its end")
        let pings = state.withLock { state in
            state.loss = loss
            defer { state.pings = [:] }
            return Array(state.pings.values)
        }
        queue.end(loss)
        for ping in pings { ping.resume(throwing: loss) }
    }

    /// Ends the received messages, and reports the end to the monitors, once.
    func endMessages(_ end: Result<Void, any Error>) {
        let isFirst = state.withLock { state in
            defer { state.isReported = true }
            return !state.isReported
        }
        if isFirst, let recorder {
            var error: NetworkError?
            if case .failure(let failure) = end { error = failure as? NetworkError }
            recorder(CallMessage(.end, isSent: false, Data((closure?.description ?? "").utf8), error))
        }
        inbox.end(end)
    }

    /// The error of a message or a ping after a Close frame.
    var closedError: NetworkError {
        guard let closure else { return error(.webSocketClosed, "it has ended") }
        let side = closure.isFromServer ? "the server" : "this side"
        let reason = closure.reason.isEmpty ? "" : ": \(closure.reason.shortForMessage)"
        return error(.webSocketClosed, "\(side) closed it with \(closure.code.rawValue)\(reason)")
    }

    private func error(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        attributed(NetworkError(code, reason: reason))
    }

    /// Returns the error with the request of the handshake.
    func attributed(_ error: NetworkError) -> NetworkError {
        request.map { error.attributed(to: $0) } ?? error
    }

    // MARK: Pings

    func ping() async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.lastPing += 1
            return state.lastPing
        }
        inbox.beginPing()
        defer { inbox.endPing() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let failure = state.withLock { state -> (any Error)? in
                    if Task.isCancelled { return CancellationError() }
                    if let end = state.end ?? state.loss { return end }
                    if state.closure != nil { return NetworkError(.webSocketClosed) }
                    state.pings[number] = continuation
                    state.firstPing = min(state.firstPing, number)
                    return nil
                }
                if let failure { return continuation.resume(throwing: failure) }
                queue.sendControl(.ping(withUnsafeBytes(of: number.bigEndian) { Data($0) }))
            }
        } onCancel: {
            state.withLock { $0.pings.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    private func keepAlive(_ interval: Duration) async {
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: interval.clamped)
                state.withLock { $0.isSilent = true }
                let late = error(.timedOut, "no answer to a ping for \(interval.secondsText), webSocket.pingInterval")
                try await withTimeout(interval, by: clock, error: late) { try await self.ping() }
            } catch let error as NetworkError where error.code == .timedOut {
                // The pong may follow a message that is still arriving. While the inbox is full, it may follow unread ones.
                if state.withLock({ $0.isSilent }), !inbox.hasWaitingWriter { return abort(error) }
            } catch {
                return
            }
        }
    }

    // MARK: Ending

    /// Sends a Close frame, unless one was sent. Returns whether it is the first one. Discards unread messages,
    /// because a full inbox would hide the server's Close frame.
    @discardableResult
    func startClosing(_ code: WebSocketCloseCode, _ reason: String) -> Bool {
        let isFirst = recordClosure(WebSocketClosure(sending: code, reason))
        if isFirst { sendClose(code, reason) }
        inbox.discard()
        return isFirst
    }

    /// Ends the connection without waiting for the server's Close frame. Sends a Close frame if that does not block. A
    /// frame that was queued has at most a second to be sent. A closing handshake that has begun continues.
    func cancel() {
        let code = WebSocketCloseCode.goingAway
        guard recordClosure(WebSocketClosure(sending: code, "")) else { return }
        endMessages(.failure(CancellationError()))
        inbox.discard()
        if sendClose(code) { return abort(nil) }
        Task { await waitForEnd(within: min(options.closeTimeout, .seconds(1))) }
    }

    /// Sends or queues a Close frame. Returns whether it was sent.
    @discardableResult
    func sendClose(_ code: WebSocketCloseCode, _ reason: String = "") -> Bool {
        let close = WebSocketEvent.close(code, reason: reason)
        if queue.trySendDirectly(close) { return true }
        queue.sendControl(close)
        return false
    }

    /// Records the first Close frame, of either side. Returns false after another one, and after the end.
    func recordClosure(_ closure: WebSocketClosure) -> Bool {
        state.withLock { state in
            guard state.end == nil, state.closure == nil else { return false }
            state.closure = closure
            return true
        }
    }

    /// Waits until the server closes the connection. Aborts it after `limit`, and when the task is canceled.
    func waitForEnd(within limit: Duration) async {
        let timer = Task { [clock] in
            try await clock.sleep(for: limit.clamped)
            abort(nil)
        }
        while state.withLock({ $0.end == nil }) {
            await state.wait(in: \.endWaiters) { $0.end != nil }
            if Task.isCancelled { abort(nil) }
        }
        timer.cancel()
    }

    /// Ends the connection without waiting for the server.
    func abort(_ failure: (any Error)?) {
        end(failure ?? (closure == nil ? CancellationError() : nil))
    }
}
