import Foundation
import Switchboard
import SwitchboardPlatform

/// The queue of outgoing messages and control frames. Messages are sent one after another. Control frames are sent
/// between the fragments of a message.
final class SendQueue: Sendable {
    private struct Message {
        let id: UInt64
        let opcode: Opcode
        var payload: Data
        var isBegun = false
        var isCompressed = false
    }

    private struct State {
        var messages: [Message] = []
        var controls: [(opcode: Opcode, payload: Data)] = []
        /// The senders of the queued messages and of the message ``taken``.
        var senders: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        /// The message whose last fragment was taken, and which the session may not have sent yet.
        var taken: UInt64?
        /// Whether a sender writes to the connection on its own thread. The reader waits meanwhile.
        var isSendingDirectly = false
        var lastID: UInt64 = 0
        var reader: CheckedContinuation<Void, Never>?
        /// Whether a Close frame is queued or sent.
        var isClosing = false
        /// Whether the session takes no more frames.
        var isStopped = false
        /// Runs once when the session stops.
        var onStop: (@Sendable () -> Void)?
        var failure: (any Error)?
        var sent: (messages: Int, bytes: Int64) = (0, 0)
        var maskingKeys = MaskingKeys()
        /// Sends messages on the threads of their senders. Nil if the session has no such connection.
        var connection: (any UpgradedConnection)?

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            defer { reader = nil }
            return reader
        }

        /// Whether the queue is open and empty.
        var isIdle: Bool {
            messages.isEmpty && controls.isEmpty && taken == nil && !isSendingDirectly && !isClosing && failure == nil
        }

        /// The error for new messages after the end or a Close frame. Nil while the queue is open.
        var refusal: (any Error)? { failure ?? (isClosing ? SendQueue.closing : nil) }

        mutating func takeSenders() -> [CheckedContinuation<Void, any Error>] {
            defer { (senders, messages) = ([:], []) }
            return Array(senders.values)
        }

        /// Whether ``next()`` has a frame or the end to return.
        var hasWork: Bool {
            !isSendingDirectly && (!messages.isEmpty || !controls.isEmpty || isClosing || failure != nil)
        }
    }

    /// The longest fragment of a message, in bytes. Control frames wait for it.
    static let fragmentSize = 128 << 10

    private let state = Protected(State())
    private let compression = Protected<(deflater: MessageDeflater, threshold: Int)?>(nil)

    /// The number of messages that were sent, and their bytes.
    var sent: (messages: Int, bytes: Int64) { state.withLock { $0.sent } }

    /// Compresses later messages of at least `threshold` bytes.
    func compress(with deflater: MessageDeflater, threshold: Int) {
        compression.withLock { $0 = (deflater, threshold) }
    }

    /// Sends a message, and waits until the session has sent its last fragment. A cancellation before the first fragment
    /// removes the message from the queue. After it, the message is still sent.
    ///
    /// - Throws: The error that the queue ended with, or `CancellationError`.
    func send(_ opcode: Opcode, _ payload: Data) async throws {
        try Task.checkCancellation()
        if sendAtOnce(opcode, payload) { return }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (failure, reader) = state.withLock { state -> ((any Error)?, CheckedContinuation<Void, Never>?) in
                    // The flag is set before the handler below runs.
                    if Task.isCancelled { return (CancellationError(), nil) }
                    if let refusal = state.refusal { return (refusal, nil) }
                    state.messages.append(Message(id: id, opcode: opcode, payload: payload))
                    state.senders[id] = continuation
                    return (nil, state.takeReader())
                }
                if let failure { continuation.resume(throwing: failure) }
                reader?.resume()
            }
        } onCancel: {
            withdraw(id)
        }
    }

    private static let closing = NetworkError(.webSocketClosed, reason: "it is closing")

    private func withdraw(_ id: UInt64) {
        let sender = state.withLock { state in
            state.messages.removeAll { $0.id == id && !$0.isBegun }
            return state.senders.removeValue(forKey: id)
        }
        sender?.resume(throwing: CancellationError())
    }

    /// Sends a control frame before the queued messages. A Pong replaces a queued Pong ([RFC 6455
    /// §5.5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.5.3)). Nothing follows a Close frame.
    func sendControl(_ opcode: Opcode, _ payload: Data) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.failure == nil, !state.isClosing else { return nil }
            if opcode == .pong { state.controls.removeAll { $0.opcode == .pong } }
            state.controls.append((opcode, payload))
            state.isClosing = opcode == .close
            return state.takeReader()
        }
        reader?.resume()
    }

    /// Ends the queue. Waiting and later senders get the error.
    func end(_ failure: any Error) {
        let (senders, reader, connection) = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { (state.connection, state.onStop) = (nil, nil) }
            return (state.takeSenders(), state.takeReader(), state.connection)
        }
        defer { withExtendedLifetime(connection) {} }  // is released without the lock
        // The history of the call retains the queue, so release the deflater here.
        compression.withLock { $0 = nil }
        for sender in senders { sender.resume(throwing: failure) }
        reader?.resume()
    }
}

// MARK: Sending on the sender's thread

extension SendQueue {
    /// Sends later messages directly over a connection while it accepts them.
    func send(over connection: any UpgradedConnection) {
        state.withLock { $0.connection = connection }
    }

    /// The longest message that is sent directly, in bytes.
    private static let directLimit = 64 << 10

    /// Tries to send a message or a Close frame on this thread. Returns false when it must be queued.
    func sendAtOnce(_ opcode: Opcode, _ payload: Data) -> Bool {
        guard payload.count <= Self.directLimit else { return false }
        let target = state.withLock { state -> (connection: any UpgradedConnection, key: UInt32)? in
            guard state.isIdle, let connection = state.connection else { return nil }
            state.isSendingDirectly = true
            return (connection, state.maskingKeys.next())
        }
        guard let target else { return false }
        let isSent = FrameWriter.withFrame(opcode, payload, key: target.key) { target.connection.sendAtOnce($0) }
        let reader = state.withLock { state in
            state.isSendingDirectly = false
            if isSent, opcode == .close {
                state.isClosing = true
            } else if isSent {
                state.sent.messages += 1
                state.sent.bytes += Int64(payload.count)
            }
            return state.hasWork ? state.takeReader() : nil
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

    /// Runs the action of ``whenStopped(_:)``.
    func stop() {
        let action = state.withLock { state in
            defer { state.onStop = nil }
            state.isStopped = true
            return state.onStop
        }
        action?()
    }

    /// Returns the next frame. Nil after a Close frame or the end of the queue. Only one reader at a time. The session
    /// cancels it when the connection is lost. The last frame may then be unsent.
    func next() async -> Data? {
        if !Task.isCancelled { release() }
        while true {
            if Task.isCancelled {
                stop()
                return nil
            }
            switch take() {
            case .frame(let frame): return frame
            case .end: return nil
            case .none: await wait()
            }
        }
    }

    private enum Step { case frame(Data), end, none }

    /// The next frame, which is built without the lock.
    private enum NextFrame { case control(Opcode, Data), begin(Message), fragment, end, none }

    private func take() -> Step {
        let next = state.withLock { state -> NextFrame in
            if state.isSendingDirectly { return .none }
            if !state.controls.isEmpty {
                let control = state.controls.removeFirst()
                return .control(control.opcode, control.payload)
            }
            if state.failure != nil || state.isClosing { return .end }
            guard let first = state.messages.first else { return .none }
            if first.isBegun { return .fragment }
            state.messages[0].isBegun = true
            return .begin(first)
        }
        switch next {
        case .control(let opcode, let payload): return .frame(FrameWriter.frame(opcode, payload, key: key))
        case .begin(let message):
            compress(message)
            return fragment(isFirst: true)
        case .fragment: return fragment(isFirst: false)
        case .end: return .end
        case .none: return .none
        }
    }

    /// Replaces the payload of the first message by its compressed form.
    private func compress(_ message: Message) {
        guard let (deflater, threshold) = compression.withLock({ $0 }), message.payload.count >= threshold else {
            return
        }
        guard let compressed = deflater.compress(message.payload) else {
            // The contexts of the deflater and of the server now differ.
            compression.withLock { $0 = nil }
            return
        }
        state.withLock { state in
            guard state.messages.first?.id == message.id else { return }
            state.messages[0].payload = compressed
            state.messages[0].isCompressed = true
        }
    }

    private func fragment(isFirst: Bool) -> Step {
        let part = state.withLock { state -> (message: Message, bytes: Data, isLast: Bool)? in
            guard let message = state.messages.first else { return nil }
            let bytes = message.payload.prefix(Self.fragmentSize)
            let isLast = bytes.count == message.payload.count
            state.sent.bytes += Int64(bytes.count)
            if isLast {
                state.messages.removeFirst()
                state.taken = message.id
                state.sent.messages += 1
            } else {
                state.messages[0].payload = message.payload.dropFirst(bytes.count)
            }
            return (message, bytes, isLast)
        }
        guard let part else { return .none }
        return .frame(
            FrameWriter.frame(
                isFirst ? part.message.opcode : .continuation, part.bytes, isFinal: part.isLast,
                isCompressed: isFirst && part.message.isCompressed, key: key))
    }

    private var key: UInt32 { state.withLock { $0.maskingKeys.next() } }

    /// Resumes the sender of ``State/taken``: the session asks for the next frame after it has sent one.
    private func release() {
        let sender = state.withLock { state in
            defer { state.taken = nil }
            return state.taken.flatMap { state.senders.removeValue(forKey: $0) }
        }
        sender?.resume()
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.hasWork || Task.isCancelled { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeReader() }?.resume()
        }
    }
}
