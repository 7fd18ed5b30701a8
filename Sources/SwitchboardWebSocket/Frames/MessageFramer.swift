import Foundation
import Switchboard
import SwitchboardPlatform

/// Turns the events of a queue into masked frames, for a session that carries bytes. It compresses messages and splits
/// them into fragments.
final class MessageFramer: Sendable {
    private struct State {
        /// The unsent rest of the message in flight.
        var rest: Fragment?
        var compression: (deflater: MessageDeflater, threshold: Int)?
    }

    private struct Fragment {
        let opcode: Opcode
        let payload: Data
        var isCompressed = false
    }

    /// The longest fragment of a message, in bytes. Control frames wait for it.
    static let fragmentSize = 128 << 10

    private let queue: SendQueue
    private let maskingKeys = Protected(MaskingKeys())
    private let state = Protected(State())

    init(_ queue: SendQueue) { self.queue = queue }

    /// Compresses later messages of at least `threshold` bytes.
    func compress(with deflater: MessageDeflater, threshold: Int) {
        state.withLock { $0.compression = (deflater, threshold) }
    }

    /// Sends later frames on the senders' threads, while the connection accepts them and nothing is queued.
    func send(over connection: any UpgradedConnection) {
        queue.setDirectSend { [maskingKeys] event in
            let (opcode, payload) = event.frame
            let key = maskingKeys.withLock { $0.next() }
            return FrameWriter.withFrame(opcode, payload, key: key) { connection.trySend($0) }
        }
    }

    /// Returns the next frame. Nil after a Close frame, the end of the queue, or a cancellation. Only one task may call it
    /// at a time. See ``SendQueue/startExchange()`` for `exchange`.
    func next(of exchange: Int? = nil) async -> Data? {
        if !Task.isCancelled, let rest = state.withLock({ $0.rest }) {
            switch queue.takeControl(of: exchange) {
            case .event(let control): return frame(control)
            case .end: return nil  // this exchange sends no rest
            case .nothing: return fragment(rest)
            }
        }
        guard let event = await queue.next(of: exchange) else { return nil }
        guard case .message = event else { return frame(event) }
        let (opcode, payload) = event.frame
        let compressed = compress(payload)
        return fragment(Fragment(opcode: opcode, payload: compressed ?? payload, isCompressed: compressed != nil))
    }

    /// Counts the message in flight as sent, unless a fragment is left. Returns its sender.
    func confirm() -> CheckedContinuation<Void, any Error>? {
        state.withLock({ $0.rest }) == nil ? queue.takeInFlight() : nil
    }

    private func frame(_ control: WebSocketEvent) -> Data {
        FrameWriter.frame(control.frame.opcode, control.frame.payload, key: maskingKeys.withLock { $0.next() })
    }

    /// Returns the first fragment, and stores the rest.
    private func fragment(_ message: Fragment) -> Data {
        let bytes = message.payload.prefix(Self.fragmentSize)
        let isLast = bytes.count == message.payload.count
        state.withLock {
            $0.rest = isLast ? nil : Fragment(opcode: .continuation, payload: message.payload.dropFirst(bytes.count))
        }
        return FrameWriter.frame(
            message.opcode, bytes, isFinal: isLast, isCompressed: message.isCompressed,
            key: maskingKeys.withLock { $0.next() })
    }

    private func compress(_ payload: Data) -> Data? {
        guard let (deflater, threshold) = state.withLock({ $0.compression }), payload.count >= threshold else {
            return nil
        }
        guard let compressed = deflater.compress(payload) else {
            // The contexts of the deflater and of the server now differ.
            state.withLock { $0.compression = nil }
            return nil
        }
        queue.setInFlightSize(compressed.count)
        return compressed
    }
}
