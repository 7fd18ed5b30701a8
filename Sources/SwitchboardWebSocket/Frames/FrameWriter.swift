import Foundation
import SwitchboardPlatform

/// Writes the frames of a client, which are masked ([RFC 6455
/// §5.3](https://www.rfc-editor.org/rfc/rfc6455#section-5.3)).
enum FrameWriter {
    private static let longestHeader = 14

    /// Runs `body` with the bytes of a frame, which are valid until it returns. `isCompressed` is whether the payload
    /// begins a compressed message. The masking key comes from a secure source of random numbers.
    static func withFrame<Output>(
        _ opcode: Opcode, _ payload: Data, isFinal: Bool = true, isCompressed: Bool = false, key: UInt32,
        _ body: (UnsafeRawBufferPointer) -> Output
    ) -> Output {
        let first = (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0) | opcode.rawValue
        return withUnsafeTemporaryAllocation(byteCount: longestHeader + payload.count, alignment: 1) { frame in
            let start = writeHeader(first, UInt64(payload.count), key, to: frame)
            let content = UnsafeMutableRawBufferPointer(rebasing: frame[start..<start + payload.count])
            payload.withUnsafeBytes { mask($0, key, to: content) }
            return body(UnsafeRawBufferPointer(rebasing: frame[..<(start + payload.count)]))
        }
    }

    static func frame(
        _ opcode: Opcode, _ payload: Data, isFinal: Bool = true, isCompressed: Bool = false, key: UInt32
    ) -> Data {
        withFrame(opcode, payload, isFinal: isFinal, isCompressed: isCompressed, key: key) { Data($0) }
    }

    /// Writes a header with the first byte `first`. Returns its length.
    private static func writeHeader(
        _ first: UInt8, _ length: UInt64, _ key: UInt32, to header: UnsafeMutableRawBufferPointer
    ) -> Int {
        let mask: UInt8 = 0x80
        var count = 2
        header[0] = first
        switch length {
        case ...125: header[1] = mask | UInt8(length)
        case ...0xFFFF:
            header[1] = mask | 126
            header.storeBytes(of: UInt16(length).bigEndian, toByteOffset: 2, as: UInt16.self)
            count = 4
        default:
            header[1] = mask | 127
            header.storeBytes(of: length.bigEndian, toByteOffset: 2, as: UInt64.self)
            count = 10
        }
        header.storeBytes(of: key, toByteOffset: count, as: UInt32.self)
        return count + 4
    }

    /// Applies a masking key, eight bytes at a time. Source and result may be the same memory.
    static func mask(_ bytes: UnsafeRawBufferPointer, _ key: UInt32, to result: UnsafeMutableRawBufferPointer) {
        let wide = UInt64(key) << 32 | UInt64(key)
        var index = 0
        while index + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            result.storeBytes(of: word ^ wide, toByteOffset: index, as: UInt64.self)
            index += 8
        }
        withUnsafeBytes(of: wide) { wide in
            for rest in index..<bytes.count { result[rest] = bytes[rest] ^ wide[rest - index] }
        }
    }
}

/// The masking keys of a client's frames, from the system's source of random numbers, as [RFC 6455
/// §10.3](https://www.rfc-editor.org/rfc/rfc6455#section-10.3) requires.
struct MaskingKeys {
    private var unused: [UInt32] = []

    mutating func next() -> UInt32 {
        if unused.isEmpty {
            unused = Data.random(256).withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self) }
            }
        }
        return unused.removeLast()
    }
}
