import Foundation
import Switchboard
import SwitchboardPlatform

/// The queue of outgoing messages and control frames. Messages are sent one after another. Control frames are sent first.
final class SendQueue: Sendable {
    private struct State {
        var messages: [(id: UInt64, message: WebSocketMessage)] = []
        var controls: [WebSocketEvent] = []
        /// The senders of the queued messages and of the message in flight.
        var senders: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        /// The message that the session is sending, and the bytes of its payload.
        var inFlight: (id: UInt64, size: Int)?
        /// Whether a sender writes to the connection on its own thread. The reader waits meanwhile.
        var isSendingDirectly = false
        var lastID: UInt64 = 0
        /// The task of the session, while nothing is queued.
        var readers = WaitingTasks()
        /// Whether a Close frame is queued or sent.
        var isClosing = false
        /// Whether the session has stopped sending.
        var isStopped = false
        /// Runs once when the session stops.
        var onStop: (@Sendable () -> Void)?
        var failure: (any Error)?
        var sent: (messages: Int, bytes: Int64) = (0, 0)
        var direct: (@Sendable (WebSocketEvent) -> Bool)?
        var recorder: (@Sendable (WebSocketEvent) -> Void)?

        /// Whether the queue is open and empty.
        var isIdle: Bool {
            messages.isEmpty && controls.isEmpty && inFlight == nil && !isSendingDirectly && !isClosing
                && failure == nil
        }

        /// The error for new messages after the end or a Close frame. Nil while the queue is open.
        var refusal: (any Error)? { failure ?? (isClosing ? SendQueue.closing : nil) }

        mutating func takeSenders() -> [CheckedContinuation<Void, any Error>] {
            defer { (senders, messages) = ([:], []) }
            return Array(senders.values)
        }

        /// Whether ``next()`` has an event or the end to return.
        var hasWork: Bool {
            !isSendingDirectly && (!messages.isEmpty || !controls.isEmpty || isClosing || failure != nil)
        }

        mutating func take(onlyControls: Bool) -> Step {
            if isSendingDirectly { return .none }
            if !controls.isEmpty { return .event(controls.removeFirst()) }
            if failure != nil || isClosing { return .end }
            if onlyControls || messages.isEmpty { return .none }
            let (id, message) = messages.removeFirst()
            inFlight = (id, message.size)
            return .event(.message(message))
        }
    }

    /// The result of a look into the queue.
    enum Step { case event(WebSocketEvent), end, none }

    private let state = Protected(State())

    /// The number of messages that were sent, and their bytes.
    var sent: (messages: Int, bytes: Int64) { state.withLock { $0.sent } }

    /// Sends a message, and waits until the session has sent it. A cancellation before the session takes the message
    /// removes it from the queue. After that, the message is still sent.
    ///
    /// - Throws: The error that the queue ended with, or `CancellationError`.
    func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        if message.size <= Self.directLimit, sendAtOnce(.message(message)) { return }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (failure, reader) = state.withLock { state -> ((any Error)?, WaitingTasks?) in
                    // The flag is set before the handler below runs.
                    if Task.isCancelled { return (CancellationError(), nil) }
                    if let refusal = state.refusal { return (refusal, nil) }
                    state.messages.append((id, message))
                    state.senders[id] = continuation
                    return (nil, state.readers.take())
                }
                if let failure { continuation.resume(throwing: failure) }
                reader?.resume()
            }
        } onCancel: {
            cancel(id)
        }
    }

    private static let closing = NetworkError(.webSocketClosed, reason: "it is closing")

    private func cancel(_ id: UInt64) {
        let sender = state.withLock { state in
            state.messages.removeAll { $0.id == id }
            return state.senders.removeValue(forKey: id)
        }
        sender?.resume(throwing: CancellationError())
    }

    /// Sends a control frame before the queued messages. A Pong replaces a queued Pong ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)). Nothing follows a Close frame.
    func sendControl(_ control: WebSocketEvent) {
        let reader = state.withLock { state -> WaitingTasks? in
            guard state.failure == nil, !state.isClosing else { return nil }
            if case .pong = control { state.controls.removeAll { if case .pong = $0 { true } else { false } } }
            state.controls.append(control)
            if case .close = control { state.isClosing = true }
            return state.readers.take()
        }
        reader?.resume()
    }

    /// Ends the queue. Waiting and later senders get the error.
    func end(_ failure: any Error) {
        let (senders, reader, direct) = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { (state.direct, state.onStop) = (nil, nil) }
            return (state.takeSenders(), state.readers.take(), state.direct)
        }
        defer { withExtendedLifetime(direct) {} }  // is released without the lock
        for sender in senders { sender.resume(throwing: failure) }
        reader.resume()
    }
}

// MARK: Sending on the sender's thread

extension SendQueue {
    /// The longest message that is sent directly, in bytes.
    private static let directLimit = 64 << 10

    /// Sends later events by `send` on the threads of their senders, while the queue is empty. It returns false when the
    /// event must be queued.
    func sendDirectly(_ send: @escaping @Sendable (WebSocketEvent) -> Bool) {
        state.withLock { $0.direct = send }
    }

    /// Tries to send a message or a Close frame on this thread. Returns false when it must be queued.
    func sendAtOnce(_ event: WebSocketEvent) -> Bool {
        let direct = state.withLock { state -> (@Sendable (WebSocketEvent) -> Bool)? in
            guard state.isIdle, let direct = state.direct else { return nil }
            state.isSendingDirectly = true
            return direct
        }
        guard let direct else { return false }
        let isSent = direct(event)
        let reader = state.withLock { state in
            state.isSendingDirectly = false
            if isSent, case .message(let message) = event {
                state.sent.messages += 1
                state.sent.bytes += Int64(message.size)
            } else if isSent {
                state.isClosing = true
            }
            return state.hasWork ? state.readers.take() : nil
        }
        reader?.resume()
        return isSent
    }
}

// MARK: The session's side

extension SendQueue {
    /// Sets an action that runs when the session stops because the connection is lost. The senders wait for ``end(_:)``,
    /// which has the error of the connection.
    func whenStopped(_ action: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.onStop = action }
            return state.isStopped
        }
        if isStopped { action() }
    }

    private func stop() {
        let action = state.withLock { state in
            defer { state.onStop = nil }
            state.isStopped = true
            return state.onStop
        }
        action?()
    }

    /// Returns the next event. Nil after a Close frame or the end of the queue. Only one reader at a time. The session
    /// cancels it when the connection is lost. The last event may then be unsent.
    func next() async -> WebSocketEvent? {
        if !Task.isCancelled { completeInFlight() }
        while true {
            if Task.isCancelled {
                stop()
                return nil
            }
            switch take(onlyControls: false) {
            case .event(let event): return event
            case .end: return nil
            case .none: await state.wait(in: \.readers) { $0.hasWork }
            }
        }
    }

    /// Takes a control frame between the fragments of the message in flight.
    func takeControl() -> Step { take(onlyControls: true) }

    private func take(onlyControls: Bool) -> Step {
        let (step, recorder) = state.withLock { ($0.take(onlyControls: onlyControls), $0.recorder) }
        if case .event(let event) = step { recorder?(event) }
        return step
    }

    /// Sets a function that receives each event before it is sent.
    func record(by recorder: @escaping @Sendable (WebSocketEvent) -> Void) {
        state.withLock { $0.recorder = recorder }
    }

    /// Sets the size of the message in flight, after its compression.
    func setInFlightSize(_ size: Int) { state.withLock { $0.inFlight?.size = size } }

    /// Counts the message in flight, and resumes its sender. The session requests the next event after it has sent one.
    private func completeInFlight() {
        let sender = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let (id, size) = state.inFlight else { return nil }
            state.inFlight = nil
            state.sent.messages += 1
            state.sent.bytes += Int64(size)
            return state.senders.removeValue(forKey: id)
        }
        sender?.resume()
    }
}
