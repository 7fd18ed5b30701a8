import Foundation

/// The frames of a WebSocket as a server reads and writes them ([RFC 6455
/// §5.2](https://www.rfc-editor.org/rfc/rfc6455#section-5.2)). It shares no code with the client.
struct ServerFrames {
    struct Frame {
        let opcode: UInt8
        let isFinal: Bool
        let isMasked: Bool
        let payload: Data
    }

    private var bytes: [UInt8] = []
    /// The number of bytes of the frames that were returned.
    private var position = 0

    mutating func take(_ more: Data) {
        bytes.removeFirst(position)
        position = 0
        bytes += more
    }

    /// Returns the next whole frame, unmasked, or nil when more bytes are needed.
    mutating func next() -> Frame? {
        let head = Array(bytes[position...].prefix(14))
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
        // A length above that of the bytes may not fit into an Int.
        guard mask.count == 4, length <= UInt64(bytes.count), bytes.count - position >= start + Int(length)
        else { return nil }
        var payload = Array(bytes[position + start..<position + start + Int(length)])
        if isMasked { for index in payload.indices { payload[index] ^= mask[index % 4] } }
        position += start + payload.count
        return Frame(
            opcode: head[0] & 0x0F, isFinal: head[0] & 0x80 != 0, isMasked: isMasked, payload: Data(payload))
    }

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
    /// Whether the frames must keep the rules for a client.
    let isOfClient: Bool
    /// The first frame of a client that broke a rule, in words. Later frames are not read.
    private(set) var fault: String?

    init(isOfClient: Bool = false) { self.isOfClient = isOfClient }

    /// Returns the messages that these bytes complete.
    mutating func take(_ bytes: Data) -> [(opcode: UInt8, payload: Data)] {
        frames.take(bytes)
        var messages: [(opcode: UInt8, payload: Data)] = []
        while fault == nil, let frame = frames.next() {
            if isOfClient { fault = brokenRule(in: frame) }
            if fault != nil { break }
            guard frame.opcode < 0x8 else {
                messages.append((frame.opcode, frame.payload))
                continue
            }
            if fragments == nil { fragments = (frame.opcode, Data()) }
            fragments?.payload.append(frame.payload)
            guard frame.isFinal, let message = fragments else { continue }
            messages.append(message)
            fragments = nil
        }
        return messages
    }

    /// Returns the rule of [RFC 6455 §5](https://www.rfc-editor.org/rfc/rfc6455#section-5) that a frame breaks.
    /// Reserved bits may belong to an extension.
    private func brokenRule(in frame: ServerFrames.Frame) -> String? {
        guard frame.isMasked else { return "a frame without a mask" }
        switch frame.opcode {
        case 0x0: return fragments == nil ? "a continuation without a message" : nil
        case 0x1, 0x2: return fragments == nil ? nil : "a message within a message"
        case 0x8, 0x9, 0xA:
            return frame.isFinal && frame.payload.count <= 125 ? nil : "a control frame that is long or a fragment"
        default: return "an unknown frame"
        }
    }
}
