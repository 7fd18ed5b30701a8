import Foundation
import Switchboard
import SwitchboardPlatform

/// An open WebSocket: it reads frames in a separate task, answers pings and closes.
final class WebSocketConnection: Sendable {
    struct State {
        var closure: WebSocketClosure?
        /// Whether a Close frame was sent.
        var isClosing = false
        var pings: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var lastPing: UInt64 = 0
        var pump: Task<Void, Never>?
        var pinger: Task<Void, Never>?
        /// The error for later pings. Nil while the connection is open.
        var end: (any Error)?
        /// Whether the server sent a ping or a pong.
        var hasPinged = false
        var enders: [CheckedContinuation<Void, Never>] = []
    }

    let queue: SendQueue
    let inbox: Inbox
    let options: WebSocketOptions
    let clock: any Clock<Duration>
    private let request: NetworkRequest?
    let state = Protected(State())

    init(_ queue: SendQueue, _ options: WebSocketOptions, _ request: NetworkRequest?, clock: any Clock<Duration>) {
        self.queue = queue
        self.options = options
        self.request = request
        self.clock = clock
        inbox = Inbox(limit: max(1, options.queueLimit))
    }

    /// The end of the connection, or nil while it is open and after it was lost.
    var closure: WebSocketClosure? { state.withLock { $0.closure } }

    /// The figures of the connection.
    var metrics: WebSocketMetrics {
        let (sent, received) = (queue.sent, inbox.received)
        return WebSocketMetrics(
            messagesSent: sent.messages, bytesSent: sent.bytes, messagesReceived: received.messages,
            bytesReceived: received.bytes)
    }

    /// Whether the server sent anything but a Close frame.
    var isAlive: Bool { inbox.received.messages > 0 || state.withLock { $0.hasPinged } }

    // MARK: Running

    /// Starts to read the server's bytes, and to ping.
    ///
    /// - Parameters:
    ///   - bytes: The server's bytes.
    ///   - reader: Reads the frames.
    ///   - connection: Sends and receives what needs no wait, without another task. Nil if the session cannot do that.
    func start(
        _ bytes: ResponseBytes, _ reader: sending MessageReader, over connection: (any UpgradedConnection)? = nil
    ) {
        let reading = Reading(reader)
        // Otherwise the end would be noticed only after the reader has taken the messages in front of it.
        queue.whenStopped { [inbox] in inbox.takeAll() }
        if let connection {
            connection.setReceiver { self.receive($0, reading) }
            queue.send(over: connection)
        }
        let pump = Task { await self.read(bytes, reading) }
        let pinger = options.pingInterval.map { interval in Task { await self.keepAlive(interval) } }
        let isEnded = state.withLock { state in
            if state.end == nil { (state.pump, state.pinger) = (pump, pinger) }
            return state.end != nil
        }
        if isEnded {
            pump.cancel()
            pinger?.cancel()
        }
    }

    /// Ends everything, with an error or after a closing handshake.
    func end(_ failure: (any Error)?) {
        let failure = failure.map { failure in (failure as? NetworkError).map(attributed) ?? failure }
        let closed = failure ?? closedError
        let (pings, enders, tasks) = state.withLock { state in
            if state.end == nil { state.end = closed }
            defer { (state.pings, state.enders, state.pump, state.pinger) = ([:], [], nil, nil) }
            return (Array(state.pings.values), state.enders, [state.pump, state.pinger])
        }
        if let failure { inbox.end(.failure(failure)) } else { inbox.end(.success(())) }
        queue.end(closed)
        for ping in pings { ping.resume(throwing: closed) }
        for ender in enders { ender.resume() }
        for task in tasks { task?.cancel() }
    }

    /// The error of a message or a ping after a Close frame.
    var closedError: NetworkError {
        guard let closure else { return error(.webSocketClosed, "it has ended") }
        let side = closure.isByServer ? "the server" : "this side"
        let reason = closure.reason.isEmpty ? "" : ": \(closure.reason)"
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

    /// Sends a ping and waits for its answer.
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
                    if let end = state.end { return end }
                    if state.isClosing { return NetworkError(.webSocketClosed) }
                    state.pings[number] = continuation
                    return nil
                }
                if let failure { return continuation.resume(throwing: failure) }
                queue.sendControl(.ping, withUnsafeBytes(of: number.bigEndian) { Data($0) })
            }
        } onCancel: {
            state.withLock { $0.pings.removeValue(forKey: number) }?.resume(throwing: CancellationError())
        }
    }

    private func keepAlive(_ interval: Duration) async {
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: interval)
                let late = error(.timedOut, "no answer to a ping for \(interval.secondsText), webSocket.pingInterval")
                try await withTimeout(interval, by: clock, error: late) { try await self.ping() }
            } catch let error as NetworkError where error.code == .timedOut {
                // The server has sent so much that its answer is behind what was taken.
                if !inbox.isFull { return abandon(error) }
            } catch {
                return
            }
        }
    }

    // MARK: Ending

    /// Sends a Close frame, unless one was sent. Returns whether it is the first one. The messages that were not read
    /// are removed, because they would stop the reading, and so the server's answer.
    @discardableResult
    func startClosing(_ code: WebSocketCloseCode, _ reason: String) -> Bool {
        let isFirst = markClosed(by: WebSocketClosure(sending: code, reason))
        if isFirst { sendClose(code.payload(reason)) }
        inbox.discard()
        return isFirst
    }

    /// Sends a Close frame if the network takes it at once, and ends the connection without the server's answer. A
    /// closing handshake that has begun is finished.
    func leave() {
        let code = WebSocketCloseCode.goingAway
        guard markClosed(by: WebSocketClosure(sending: code, "")) else { return }
        inbox.end(.failure(CancellationError()))
        inbox.discard()
        if sendClose(code.payload("")) { return abandon(nil) }
        Task { await waitForEnd(within: min(options.closeTimeout, .seconds(1))) }
    }

    /// Sends a Close frame. Returns whether the network has taken it.
    @discardableResult
    func sendClose(_ payload: Data) -> Bool {
        if queue.sendAtOnce(.close, payload) { return true }
        queue.sendControl(.close, payload)
        return false
    }

    /// Notes the first Close frame of this side. Returns false when one was sent before, or after the end.
    private func markClosed(by closure: WebSocketClosure) -> Bool {
        state.withLock { state in
            guard state.end == nil, !state.isClosing else { return false }
            state.isClosing = true
            state.closure = closure
            return true
        }
    }

    /// Waits until the server has closed the connection. Ends it after a time, and when the task is canceled.
    func waitForEnd(within limit: Duration) async {
        let timer = Task { [clock] in
            try await clock.sleep(for: limit)
            abandon(nil)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEnded = state.withLock { state in
                    if state.end == nil { state.enders.append(continuation) }
                    return state.end != nil
                }
                if isEnded { continuation.resume() }
            }
        } onCancel: {
            abandon(nil)
        }
        timer.cancel()
    }

    /// Ends the connection at once, without waiting for the server.
    func abandon(_ failure: (any Error)?) {
        end(failure ?? (closure == nil ? CancellationError() : nil))
    }
}

extension WebSocketCloseCode {
    /// Returns the payload of a Close frame. A reason of more than 123 bytes is cut at a whole character.
    func payload(_ reason: String) -> Data {
        var payload = withUnsafeBytes(of: rawValue.bigEndian) { Data($0) }
        for character in reason.unicodeScalars {
            let bytes = Array(String(character).utf8)
            guard payload.count + bytes.count <= 125 else { break }
            payload += bytes
        }
        return payload
    }
}
