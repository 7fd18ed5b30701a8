import Foundation
import Switchboard
import SwitchboardPlatform

/// The queue of outgoing messages and control frames. Messages are sent one after another. Control frames are sent first.
final class SendQueue: Sendable {
    typealias Sender = CheckedContinuation<Void, any Error>

    private struct State {
        /// The queued messages and their senders, by message ID.
        var messages: [UInt64: (message: WebSocketMessage, sender: Sender)] = [:]
        /// The IDs of the queued messages, and of some canceled ones, in the order of sending.
        var order: ArraySlice<UInt64> = []
        /// The queued control frames without the Pong, which follows them.
        var controls: ArraySlice<WebSocketEvent> = []
        var pong: WebSocketEvent?
        /// The message that the session is sending, the number of bytes of its payload, and its sender, nil after a
        /// cancellation.
        var inFlight: (id: UInt64, size: Int, sender: Sender?)?
        /// Whether a sender writes to the connection on its own thread. The session waits meanwhile.
        var isSendingDirectly = false
        var lastID: UInt64 = 0
        /// The session's task while it waits for an event.
        var waitingSession = WaitingTasks()
        var isClosing = false
        /// The number of the exchange that sends.
        var exchange = 0
        var isStopped = false
        /// Runs once when the session stops.
        var onStop: (@Sendable () -> Void)?
        var failure: (any Error)?
        var sent: (messages: Int, bytes: Int64) = (0, 0)
        /// Sends an event on the sender's thread. Returns false when the event must be queued.
        var directSend: (@Sendable (WebSocketEvent) -> Bool)?
        var recorder: (@Sendable (WebSocketEvent) -> Void)?

        /// Whether the queue is open, and nothing is queued or in flight.
        var isIdle: Bool {
            messages.isEmpty && !hasControls && inFlight == nil && !isSendingDirectly && !isClosing
                && failure == nil
        }

        var hasControls: Bool { pong != nil || !controls.isEmpty }

        /// The error for new messages after the end or a Close frame. Nil while the queue is open.
        var sendError: (any Error)? { failure ?? (isClosing ? SendQueue.closingError : nil) }

        mutating func takeSenders() -> [Sender] {
            defer {
                (messages, order) = ([:], [])
                inFlight?.sender = nil
            }
            return messages.values.map(\.sender) + [inFlight?.sender].compactMap { $0 }
        }

        /// Whether ``next()`` has an event or the end to return.
        var hasWork: Bool {
            !isSendingDirectly && (!messages.isEmpty || hasControls || isClosing || failure != nil)
        }

        /// Whether an exchange may take events. Nil means the only one.
        func isCurrent(_ exchange: Int?) -> Bool { exchange == nil || exchange == self.exchange }

        mutating func take(onlyControls: Bool, of exchange: Int?) -> Taken {
            guard isCurrent(exchange) else { return .end }
            if isSendingDirectly { return .nothing }
            if let control = controls.popFirst() ?? pong.take() { return .event(control) }
            if failure != nil || isClosing { return .end }
            while !onlyControls, let id = order.popFirst() {
                guard let (message, sender) = messages.removeValue(forKey: id) else { continue }
                inFlight = (id, message.size, sender)
                return .event(.message(message))
            }
            return .nothing
        }

        /// Removes a message, unless it is in flight. Returns its sender in both cases.
        mutating func cancel(_ id: UInt64) -> Sender? {
            if inFlight?.id == id {
                defer { inFlight?.sender = nil }
                return inFlight?.sender
            }
            let sender = messages.removeValue(forKey: id)?.sender
            // Many at once, because the others move.
            if order.count > 2 * messages.count + 64 { order = order.filter { messages[$0] != nil }[...] }
            return sender
        }
    }

    /// The event that was taken from the queue. `nothing` means that no event is queued now.
    enum Taken { case event(WebSocketEvent), end, nothing }

    private let state = Protected(State())

    var sent: (messages: Int, bytes: Int64) { state.withLock { $0.sent } }

    /// Sends a message, and waits until the session has sent it. A cancellation before the session takes the message
    /// removes it from the queue. After that, the message is still sent.
    ///
    /// - Throws: The error that the queue ended with, or `CancellationError`.
    func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        if message.size <= Self.directLimit, trySendDirectly(.message(message)) { return }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (failure, session) = state.withLock { state -> ((any Error)?, WaitingTasks?) in
                    // The flag is set before the handler below runs.
                    if Task.isCancelled { return (CancellationError(), nil) }
                    if let error = state.sendError { return (error, nil) }
                    state.messages[id] = (message, continuation)
                    state.order.append(id)
                    return (nil, state.waitingSession.take())
                }
                if let failure { continuation.resume(throwing: failure) }
                session?.resume()
            }
        } onCancel: {
            state.withLock { $0.cancel(id) }?.resume(throwing: CancellationError())
        }
    }

    private static let closingError = NetworkError(.webSocketClosed, reason: "it is closing")

    /// Sends a control frame before the queued messages. A Pong replaces a queued Pong ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)). Nothing follows a Close frame.
    func sendControl(_ control: WebSocketEvent) {
        let (session, recorder) = state.withLock { state -> (WaitingTasks?, (@Sendable (WebSocketEvent) -> Void)?) in
            guard state.failure == nil, !state.isClosing else { return (nil, nil) }
            switch control {
            case .pong: state.pong = control
            case .close:
                state.controls += [state.pong.take(), control].compactMap { $0 }
                state.isClosing = true
            default: state.controls.append(control)
            }
            return (state.waitingSession.take(), state.recorder)
        }
        recorder?(control)
        session?.resume()
    }

    /// Ends the queue. Waiting and later senders get the error.
    func end(_ failure: any Error) {
        let (senders, session, directSend) = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { (state.directSend, state.onStop) = (nil, nil) }
            return (state.takeSenders(), state.waitingSession.take(), state.directSend)
        }
        defer { withExtendedLifetime(directSend) {} }  // is released without the lock
        for sender in senders { sender.resume(throwing: failure) }
        session.resume()
    }
}

// MARK: Sending on the sender's thread

extension SendQueue {
    /// The longest message that is sent directly, in bytes.
    private static let directLimit = 64 << 10

    /// Sets a function that sends later events on the threads of their senders, while the queue is empty. The function
    /// returns false when the event must be queued.
    func setDirectSend(_ send: @escaping @Sendable (WebSocketEvent) -> Bool) {
        state.withLock { $0.directSend = send }
    }

    /// Tries to send a message or a Close frame on this thread. Returns false when the event must be queued.
    func trySendDirectly(_ event: WebSocketEvent) -> Bool {
        let directSend = state.withLock { state -> (@Sendable (WebSocketEvent) -> Bool)? in
            guard state.isIdle, let directSend = state.directSend else { return nil }
            state.isSendingDirectly = true
            return directSend
        }
        guard let directSend else { return false }
        let isSent = directSend(event)
        let session = state.withLock { state in
            state.isSendingDirectly = false
            if isSent, case .message(let message) = event {
                state.sent.messages += 1
                state.sent.bytes += Int64(message.size)
            } else if isSent {
                state.isClosing = true
            }
            return state.hasWork ? state.waitingSession.take() : nil
        }
        session?.resume()
        return isSent
    }
}

// MARK: The session's side

extension SendQueue {
    /// Sets an action that runs when the session stops because the connection is lost. The senders wait for ``end(_:)``,
    /// which passes them the error of the connection.
    func whenStopped(_ action: @escaping @Sendable () -> Void) {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.onStop = action }
            return state.isStopped
        }
        if isStopped { action() }
    }

    /// Starts an exchange of the handshake, which may be redirected or repeated, and returns its number. An earlier
    /// exchange takes no more events, and its end does not stop the queue.
    func startExchange() -> Int {
        state.withLock { state in
            state.exchange += 1
            state.isStopped = false
            return state.exchange
        }
    }

    private func stop(_ exchange: Int?) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.isCurrent(exchange) else { return nil }
            defer { state.onStop = nil }
            state.isStopped = true
            return state.onStop
        }
        action?()
    }

    /// Returns the next event. Nil after a Close frame or the end of the queue. Only one task may call it at a time. The
    /// call also means that the session has sent the previous event. The session cancels the task when the connection is
    /// lost. The previous event may then be unsent.
    func next(of exchange: Int? = nil) async -> WebSocketEvent? {
        if !Task.isCancelled { takeInFlight(of: exchange)?.resume() }
        while true {
            if Task.isCancelled {
                stop(exchange)
                return nil
            }
            switch take(onlyControls: false, of: exchange) {
            case .event(let event): return event
            case .end: return nil
            case .nothing: await state.wait(in: \.waitingSession) { $0.hasWork }
            }
        }
    }

    /// Takes a control frame between the fragments of the message in flight.
    func takeControl(of exchange: Int?) -> Taken { take(onlyControls: true, of: exchange) }

    private func take(onlyControls: Bool, of exchange: Int?) -> Taken {
        let (taken, recorder) = state.withLock {
            ($0.take(onlyControls: onlyControls, of: exchange), $0.recorder)
        }
        if case .event(.message(let message)) = taken { recorder?(.message(message)) }
        return taken
    }

    /// Sets a function that receives each message before it is sent, and each control frame when it is queued, so that
    /// the Close frame is recorded before the end of the connection.
    func record(by recorder: @escaping @Sendable (WebSocketEvent) -> Void) {
        state.withLock { $0.recorder = recorder }
    }

    /// Sets the size of the message in flight, after its compression.
    func setInFlightSize(_ size: Int) { state.withLock { $0.inFlight?.size = size } }

    /// Counts the message in flight as sent, and resumes its sender.
    func completeInFlight() { takeInFlight()?.resume() }

    /// Counts the message in flight as sent. Returns its sender, nil without one and for an earlier exchange.
    func takeInFlight(of exchange: Int? = nil) -> Sender? {
        state.withLock { state in
            guard state.isCurrent(exchange), let (_, size, sender) = state.inFlight.take() else { return nil }
            state.sent.messages += 1
            state.sent.bytes += Int64(size)
            return sender
        }
    }
}
