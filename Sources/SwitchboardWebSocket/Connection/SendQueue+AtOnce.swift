import Foundation
import Switchboard
import SwitchboardPlatform

/// The part of a queue that sends messages on their senders' threads.
extension SendQueue {
    /// Sends messages over a connection from now on, if it takes them at once.
    func send(over connection: any UpgradedConnection) {
        state.withLock { $0.connection = connection }
    }

    /// The longest message in bytes that is sent at once.
    private static let atOnceLimit = 64 << 10

    /// Sends a message or a Close frame on this thread. Returns false when it must wait in the queue.
    func sendAtOnce(_ opcode: Opcode, _ payload: Data) -> Bool {
        guard payload.count <= Self.atOnceLimit else { return false }
        let way = state.withLock { state -> (connection: any UpgradedConnection, key: UInt32)? in
            guard state.isIdle, let connection = state.connection else { return nil }
            state.isSendingAtOnce = true
            return (connection, state.masks.next())
        }
        guard let way else { return false }
        let isSent = FrameWriter.withFrame(opcode, payload, key: way.key) { way.connection.sendAtOnce($0) }
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
