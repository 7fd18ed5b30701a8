import Foundation

/// The frames of a WebSocket as a server reads and writes them ([RFC 6455
/// §5.2](https://www.rfc-editor.org/rfc/rfc6455#section-5.2)). It shares no code with the client.
struct ServerFrames {
    /// A frame of the client.
    struct Frame {
        let opcode: UInt8
        let isFinal: Bool
        let payload: Data
    }

    private var bytes = Data()

    /// Adds bytes of the client.
    mutating func take(_ more: Data) { bytes += more }

    /// Returns the next whole frame, unmasked, or nil when more bytes are needed.
    mutating func next() -> Frame? {
        let head = Array(bytes.prefix(14))
        guard head.count >= 2 else { return nil }
        var (length, start) = (UInt64(head[1] & 0x7F), 2)
        if length >= 126 {
            let size = length == 126 ? 2 : 8
            guard head.count >= 2 + size else { return nil }
            length = head[2..<(2 + size)].reduce(0) { $0 << 8 | UInt64($1) }
            start += size
        }
        let isMasked = head[1] & 0x80 != 0
        let mask = isMasked ? Array(head.dropFirst(start).prefix(4)) : [0, 0, 0, 0]
        if isMasked { start += 4 }
        guard mask.count == 4, length <= 1 << 40, bytes.count >= start + Int(length) else { return nil }
        let masked = bytes.dropFirst(start).prefix(Int(length))
        let payload = Data(masked.enumerated().map { $1 ^ mask[$0 % 4] })
        bytes = Data(bytes.dropFirst(start + Int(length)))
        return Frame(opcode: head[0] & 0x0F, isFinal: head[0] & 0x80 != 0, payload: payload)
    }

    /// Returns the bytes of a frame.
    static func frame(
        _ opcode: UInt8, _ payload: Data, isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = false
    ) -> Data {
        var frame = Data([(isFinal ? 0x80 : 0) | (reserved & 7) << 4 | opcode & 0x0F])
        let mask: UInt8 = isMasked ? 0x80 : 0
        let (size, marker): (Int, UInt8) =
            payload.count < 126 ? (0, UInt8(payload.count)) : payload.count < 65_536 ? (2, 126) : (8, 127)
        frame.append(mask | marker)
        for index in (0..<size).reversed() { frame.append(UInt8(truncatingIfNeeded: payload.count >> (8 * index))) }
        // A mask of zeros does not change the payload.
        if isMasked { frame.append(contentsOf: [0, 0, 0, 0]) }
        return frame + payload
    }
}

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
