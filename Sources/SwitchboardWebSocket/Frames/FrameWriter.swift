import Foundation

/// Writes frames. Those of a client are masked ([RFC 6455
/// §5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.3)).
enum FrameWriter {
    /// Returns a frame.
    ///
    /// - Parameters:
    ///   - opcode: The type of the frame.
    ///   - payload: The payload before masking.
    ///   - isFinal: Whether the frame ends its message.
    ///   - isCompressed: Whether the payload begins a compressed message.
    ///   - key: The mask, from a secure source of random numbers. Nil for a frame of a server.
    /// - Returns: The bytes of the frame.
    static func frame(
        _ opcode: Opcode, _ payload: Data, isFinal: Bool = true, isCompressed: Bool = false, key: UInt32?
    ) -> Data {
        var frame = Data(capacity: payload.count + 14)
        frame.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        append(UInt64(payload.count), isMasked: key != nil, to: &frame)
        guard let key else { return frame + payload }
        withUnsafeBytes(of: key) { frame.append(contentsOf: $0) }
        let start = frame.count
        frame.append(payload)
        frame.withUnsafeMutableBytes { bytes in
            mask(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), key)
        }
        return frame
    }

    /// Appends the length of a payload as the header of a frame has it.
    static func append(_ length: UInt64, isMasked: Bool, to header: inout Data) {
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch length {
        case ...125: header.append(mask | UInt8(length))
        case ...0xFFFF:
            header.append(mask | 126)
            withUnsafeBytes(of: UInt16(length).bigEndian) { header.append(contentsOf: $0) }
        default:
            header.append(mask | 127)
            withUnsafeBytes(of: length.bigEndian) { header.append(contentsOf: $0) }
        }
    }

    /// Combines the bytes with the mask, eight at a time.
    static func mask(_ bytes: UnsafeMutableRawBufferPointer, _ key: UInt32) {
        let wide = UInt64(key) << 32 | UInt64(key)
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            bytes.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        withUnsafeBytes(of: wide) { wide in
            for rest in index..<bytes.count { bytes[rest] ^= wide[rest - index] }
        }
    }
}
