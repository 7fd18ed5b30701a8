import Foundation
import Switchboard
import SwitchboardPlatform

/// The part of a queue that sends messages on their senders' threads.
extension SendQueue {
    /// Sends messages over a connection from now on, if it takes them at once.
    func send(over connection: any UpgradedConnection) {
        self.connection.withLock { $0 = connection }
    }

    /// The longest message in bytes that is sent at once.
    private static let atOnceLimit = 64 << 10

    /// Sends a message or a Close frame on this thread. Returns false when it must wait in the queue.
    func sendAtOnce(_ opcode: Opcode, _ payload: Data) -> Bool {
        guard payload.count <= Self.atOnceLimit, let connection = connection.withLock({ $0 }) else { return false }
        let isFree = state.withLock { state in
            guard state.isIdle else { return false }
            state.isSendingAtOnce = true
            return true
        }
        guard isFree else { return false }
        let isSent = connection.sendAtOnce(FrameWriter.frame(opcode, payload, key: Self.key))
        let reader = state.withLock { state in
            state.isSendingAtOnce = false
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
