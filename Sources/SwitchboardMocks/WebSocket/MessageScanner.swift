import Foundation

/// Finds the messages and control frames in one direction of a WebSocket.
struct MessageScanner {
    private var frames = ServerFrames()
    private var fragments: (opcode: UInt8, payload: Data)?

    /// Returns the messages that these bytes complete.
    mutating func take(_ bytes: Data) -> [(opcode: UInt8, payload: Data)] {
        frames.take(bytes)
        var messages: [(opcode: UInt8, payload: Data)] = []
        while let frame = frames.next() {
            guard frame.opcode < 0x8 else {
                messages.append((frame.opcode, frame.payload))
                continue
            }
            let (opcode, payload) = fragments ?? (frame.opcode, Data())
            fragments = (opcode, payload + frame.payload)
            guard frame.isFinal else { continue }
            messages.append((opcode, payload + frame.payload))
            fragments = nil
        }
        return messages
    }
}
