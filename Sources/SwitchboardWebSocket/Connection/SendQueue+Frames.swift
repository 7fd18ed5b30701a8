import Foundation
import Switchboard
import SwitchboardPlatform

/// The session's side of a queue: it takes frames and sends them.
extension SendQueue {
    /// Runs an action when the session takes no more frames, because the connection is lost. The senders wait for the end
    /// of the queue, with the error of the connection.
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

    /// Returns the next frame, or nil after a Close frame or the end of the queue. Only one reader at a time. The session
    /// cancels it when the connection takes no more, perhaps not even the last frame.
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

    /// A part of the queue that the reader works on, without the lock.
    private enum Work { case control(Opcode, Data), begin(Message), fragment, end, none }

    private func take() -> Step {
        let work = state.withLock { state -> Work in
            if state.isSendingAtOnce { return .none }
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
        switch work {
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
            // The compressor no longer knows what the server has.
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

    private var key: UInt32 { state.withLock { $0.masks.next() } }

    /// Resumes the sender of the message whose last fragment the reader has passed on.
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
