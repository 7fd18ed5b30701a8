import Foundation

/// Reads the masked frames that this side sends, for a system that makes its own frames of the messages.
struct ClientFrames {
    private var bytes = Data()
    private var message: (isText: Bool, payload: Data)?

    /// Adds bytes of any number of frames.
    mutating func add(_ more: Data) { bytes = bytes.isEmpty ? more : bytes + more }

    /// Returns the next whole message or control frame, or nil when more bytes are needed.
    mutating func next() -> (opcode: Opcode, payload: Data)? {
        while let frame = nextFrame() {
            switch frame.opcode {
            case .text, .binary: message = (frame.opcode == .text, frame.payload)
            case .continuation: message?.payload += frame.payload
            default: return (frame.opcode, frame.payload)
            }
            guard frame.isFinal, let (isText, payload) = message else { continue }
            message = nil
            return (isText ? .text : .binary, payload)
        }
        return nil
    }

    private mutating func nextFrame() -> (opcode: Opcode, isFinal: Bool, payload: Data)? {
        let head = Array(bytes.prefix(14))
        guard head.count >= 2, let opcode = Opcode(rawValue: head[0] & 0x0F) else { return nil }
        let size = FrameHeader.size(head[1])
        guard head.count >= size + 4 else { return nil }
        let long = head[2..<size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let (start, length) = (size + 4, Int(size == 2 ? UInt64(head[1] & 0x7F) : long))
        guard bytes.count >= start + length else { return nil }
        var payload = Data(bytes.dropFirst(start).prefix(length))
        let key = head[size..<start].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        payload.withUnsafeMutableBytes { FrameWriter.mask(UnsafeRawBufferPointer($0), key, to: $0) }
        bytes = bytes.dropFirst(start + length)
        return (opcode, head[0] & 0x80 != 0, payload)
    }
}
