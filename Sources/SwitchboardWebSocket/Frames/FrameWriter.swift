import Foundation

/// Writes the frames of a client, which are masked ([RFC 6455
/// §5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.3)).
enum FrameWriter {
    /// Returns a frame.
    ///
    /// - Parameters:
    ///   - opcode: The type of the frame.
    ///   - payload: The payload before masking.
    ///   - isFinal: Whether the frame ends its message.
    ///   - isCompressed: Whether the payload begins a compressed message.
    ///   - key: The mask, from a secure source of random numbers.
    /// - Returns: The bytes of the frame.
    static func frame(
        _ opcode: Opcode, _ payload: Data, isFinal: Bool = true, isCompressed: Bool = false, key: UInt32
    ) -> Data {
        var frame = Data(capacity: payload.count + 14)
        frame.append((isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue)
        switch payload.count {
        case ...125: frame.append(0x80 | UInt8(payload.count))
        case ...0xFFFF:
            frame.append(0x80 | 126)
            withUnsafeBytes(of: UInt16(payload.count).bigEndian) { frame.append(contentsOf: $0) }
        default:
            frame.append(0x80 | 127)
            withUnsafeBytes(of: UInt64(payload.count).bigEndian) { frame.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: key) { frame.append(contentsOf: $0) }
        let start = frame.count
        frame.append(payload)
        frame.withUnsafeMutableBytes { bytes in
            mask(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), key)
        }
        return frame
    }

    /// Combines the bytes with the mask, eight at a time.
    private static func mask(_ bytes: UnsafeMutableRawBufferPointer, _ key: UInt32) {
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
