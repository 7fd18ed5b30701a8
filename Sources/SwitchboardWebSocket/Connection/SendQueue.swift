import Foundation
import Switchboard
import SwitchboardPlatform

/// The frames that wait to be sent. Messages are sent one after another, and control frames pass between the fragments
/// of a message.
final class SendQueue: Sendable {
    struct Message {
        let id: UInt64
        let opcode: Opcode
        var payload: Data
        var isBegun = false
        var isCompressed = false
    }

    struct State {
        var messages: [Message] = []
        var controls: [(opcode: Opcode, payload: Data)] = []
        /// The senders of the messages in the queue, and of the one whose last fragment was taken.
        var senders: [UInt64: CheckedContinuation<Void, any Error>] = [:]
        var taken: UInt64?
        /// Whether a sender sends its message itself. The reader waits meanwhile.
        var isSendingAtOnce = false
        var lastID: UInt64 = 0
        var reader: CheckedContinuation<Void, Never>?
        /// Whether a Close frame is the last frame, or was it.
        var isClosing = false
        /// Whether the session takes no more frames.
        var isStopped = false
        /// Runs when that begins.
        var onStop: (@Sendable () -> Void)?
        var failure: (any Error)?
        var sent: (messages: Int, bytes: Int64) = (0, 0)
        var masks = MaskKeys()
        /// Takes messages on the threads of their senders. Nil if the session has no such connection.
        var connection: (any UpgradedConnection)?

        mutating func takeReader() -> CheckedContinuation<Void, Never>? {
            defer { reader = nil }
            return reader
        }

        /// Whether nothing waits and nothing has ended.
        var isIdle: Bool {
            messages.isEmpty && controls.isEmpty && taken == nil && !isSendingAtOnce && !isClosing && failure == nil
        }

        /// The error for a message that cannot be sent any more.
        var refusal: (any Error)? { failure ?? (isClosing ? SendQueue.closing : nil) }

        mutating func takeSenders() -> [CheckedContinuation<Void, any Error>] {
            defer { (senders, messages) = ([:], []) }
            return Array(senders.values)
        }

        /// Whether the reader has something to do.
        var hasWork: Bool {
            !isSendingAtOnce && (!messages.isEmpty || !controls.isEmpty || isClosing || failure != nil)
        }
    }

    /// The longest fragment of a message, in bytes. Control frames wait for it.
    static let fragmentSize = 128 << 10

    let state = Protected(State())
    let compression = Protected<(deflater: MessageDeflater, threshold: Int)?>(nil)

    /// The number of messages that were sent, and their bytes.
    var sent: (messages: Int, bytes: Int64) { state.withLock { $0.sent } }

    /// Compresses messages from now on that are not shorter than the threshold.
    func compress(with deflater: MessageDeflater, threshold: Int) {
        compression.withLock { $0 = (deflater, threshold) }
    }

    /// Sends a message, and waits until its last fragment has been passed on. A task that is canceled before the first
    /// fragment withdraws the message; later, the rest is still sent.
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

    /// Sends a control frame before the rest of the messages. A Pong replaces one that still waits ([RFC 6455
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

    /// Ends the queue. Waiting and later senders receive the error.
    func end(_ failure: any Error) {
        let (senders, reader, connection) = state.withLock { state in
            if state.failure == nil { state.failure = failure }
            defer { (state.connection, state.onStop) = (nil, nil) }
            return (state.takeSenders(), state.takeReader(), state.connection)
        }
        defer { withExtendedLifetime(connection) {} }  // is released without the lock
        // The history of the call retains the queue with its request.
        compression.withLock { $0 = nil }
        for sender in senders { sender.resume(throwing: failure) }
        reader?.resume()
    }
}
