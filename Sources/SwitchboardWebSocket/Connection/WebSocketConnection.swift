import Foundation
import Switchboard
import SwitchboardPlatform

/// An open WebSocket: it reads frames in a separate task, answers pings and closes.
final class WebSocketConnection: Sendable {
    private struct State {
        var closure: WebSocketClosure?
        /// Whether a Close frame was sent.
        var isClosing = false
        var pings: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var lastPing: UInt64 = 0
        var pump: Task<Void, Never>?
        var pinger: Task<Void, Never>?
        var isEnded = false
        /// Whether the server sent a ping or a pong.
        var hasPinged = false
        var enders: [CheckedContinuation<Void, Never>] = []
    }

    let queue: SendQueue
    let inbox: Inbox
    private let options: WebSocketOptions
    private let clock: any Clock<Duration>
    private let request: NetworkRequest?
    private let state = Protected(State())

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
    func start(_ bytes: ResponseBytes, _ reader: sending MessageReader) {
        let reading = ReaderBox(reader)
        let pump = Task { await self.read(bytes, reading) }
        let pinger = options.pingInterval.map { interval in Task { await self.keepAlive(interval) } }
        let isEnded = state.withLock { state in
            if !state.isEnded { (state.pump, state.pinger) = (pump, pinger) }
            return state.isEnded
        }
        if isEnded {
            pump.cancel()
            pinger?.cancel()
        }
    }

    private func read(_ bytes: ResponseBytes, _ box: ReaderBox) async {
        do {
            while var chunk = try await bytes.next() {
                while let event = try box.reader.next(&chunk) {
                    if try await handle(event) { return await finishClosing(bytes) }
                }
            }
            end(NetworkError(.connectionLost, reason: "the server closed the connection without a Close frame"))
        } catch let violation as WebSocketViolation {
            await refuse(violation, bytes)
        } catch let error as NetworkError where error.code == .truncatedBody {
            end(NetworkError(.connectionLost, reason: error.reason ?? "it ended early", underlying: error))
        } catch {
            end(error)
        }
    }

    /// Handles an event. Returns true for a Close frame, the last event.
    private func handle(_ event: MessageReader.Event) async throws -> Bool {
        switch event {
        case .message(let message): await inbox.add(message)
        case .ping(let payload):
            state.withLock { $0.hasPinged = true }
            queue.sendControl(.pong, payload)
        case .pong(let payload): didReceivePong(payload)
        case .close(let code, let reason):
            let isFirst = state.withLock { state in
                if state.closure == nil {
                    state.closure = WebSocketClosure(code: code, reason: reason, isByServer: true)
                }
                defer { state.isClosing = true }
                return !state.isClosing
            }
            // RFC 6455 §5.5.1: the answer has the same code.
            if isFirst { queue.sendControl(.close, code == .noStatusReceived ? Data() : code.payload("")) }
            inbox.end(.success(()))
            return true
        }
        return false
    }

    /// Waits until the server closes the connection, which it does first ([RFC 6455
    /// §7.1.1](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.1)).
    private func finishClosing(_ bytes: ResponseBytes) async {
        _ = try? await withTimeout(options.closeTimeout, by: clock, error: CancellationError()) {
            while try await bytes.next() != nil {}
        }
        end(nil)
    }

    /// Ends a connection whose server violated the protocol ([RFC 6455
    /// §7.1.7](https://www.rfc-editor.org/rfc/rfc6455#section-7.1.7)).
    private func refuse(_ violation: WebSocketViolation, _ bytes: ResponseBytes) async {
        let isFirst = state.withLock { state in
            if state.closure == nil {
                state.closure = WebSocketClosure(code: violation.code, reason: violation.reason, isByServer: false)
            }
            defer { state.isClosing = true }
            return !state.isClosing
        }
        if isFirst { queue.sendControl(.close, violation.code.payload(violation.reason)) }
        inbox.end(.failure(error(.invalidResponse, "\(violation.reason); closed with \(violation.code.rawValue)")))
        await finishClosing(bytes)
    }

    /// Ends everything, with an error or after a closing handshake.
    private func end(_ failure: (any Error)?) {
        let failure = failure.map { failure in
            request.flatMap { (failure as? NetworkError)?.attributed(to: $0) } ?? failure
        }
        let closed = failure ?? error(.webSocketClosed, closureText)
        let (pings, enders, tasks) = state.withLock { state in
            state.isEnded = true
            defer { (state.pings, state.enders, state.pump, state.pinger) = ([:], [], nil, nil) }
            return (Array(state.pings.values), state.enders, [state.pump, state.pinger])
        }
        if let failure { inbox.end(.failure(failure)) } else { inbox.end(.success(())) }
        queue.end(closed)
        for ping in pings { ping.resume(throwing: closed) }
        for ender in enders { ender.resume() }
        for task in tasks { task?.cancel() }
    }

    private var closureText: String {
        guard let closure else { return "it has ended" }
        let side = closure.isByServer ? "the server" : "this side"
        return "\(side) closed it with \(closure.code.rawValue)\(closure.reason.isEmpty ? "" : ": \(closure.reason)")"
    }

    private func error(_ code: NetworkError.Code, _ reason: String) -> NetworkError {
        let error = NetworkError(code, reason: reason)
        return request.map { error.attributed(to: $0) } ?? error
    }

    // MARK: Pings

    /// Sends a ping and waits for its answer.
    func ping() async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.lastPing += 1
            return state.lastPing
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let failure = state.withLock { state -> (any Error)? in
                    if Task.isCancelled { return CancellationError() }
                    if state.isEnded || state.isClosing { return error(.webSocketClosed, "no ping can be sent") }
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

    /// Answers the ping of a pong, and those before it ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)).
    private func didReceivePong(_ payload: Data) {
        guard payload.count == 8 else { return }
        let number = payload.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let answered = state.withLock { state -> [CheckedContinuation<Void, any Error>] in
            state.hasPinged = true
            guard state.pings[number] != nil else { return [] }
            let numbers = state.pings.keys.filter { $0 <= number }
            return numbers.compactMap { state.pings.removeValue(forKey: $0) }
        }
        for ping in answered { ping.resume() }
    }

    private func keepAlive(_ interval: Duration) async {
        while !Task.isCancelled {
            do {
                try await clock.sleep(for: interval)
                let late = error(.timedOut, "no answer to a ping for \(interval.secondsText), webSocket.pingInterval")
                try await withTimeout(interval, by: clock, error: late) { try await self.ping() }
            } catch let error as NetworkError where error.code == .timedOut {
                // An answer may wait behind the messages that the reader has not taken.
                if !inbox.isFull { return abandon(error) }
            } catch {
                return
            }
        }
    }

    // MARK: Ending

    /// Closes the connection with a code and a reason, and waits for the server's answer.
    func close(_ code: WebSocketCloseCode, _ reason: String) async {
        let isFirst = state.withLock { state in
            guard !state.isEnded, !state.isClosing else { return false }
            state.isClosing = true
            state.closure = WebSocketClosure(code: code, reason: reason, isByServer: false)
            return true
        }
        if isFirst { queue.sendControl(.close, code.payload(reason)) }
        // Messages that are still queued would stop the reading, and so the server's answer.
        inbox.discard()
        let timer = Task { [clock, closeTimeout = options.closeTimeout] in
            try await clock.sleep(for: closeTimeout)
            abandon(nil)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isEnded = state.withLock { state in
                    if !state.isEnded { state.enders.append(continuation) }
                    return state.isEnded
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

/// The reader of one connection, which only its pump uses.
private final class ReaderBox: @unchecked Sendable {
    var reader: MessageReader

    init(_ reader: sending MessageReader) { self.reader = reader }
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
