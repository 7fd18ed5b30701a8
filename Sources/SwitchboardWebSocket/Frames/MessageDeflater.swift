import Foundation
import SwitchboardPlatform

/// Compresses messages ([RFC 7692 §7.2.1](https://www.rfc-editor.org/rfc/rfc7692#section-7.2.1)).
final class MessageDeflater: @unchecked Sendable {  // only the single reader of the queue uses it
    private let zlib: Zlib
    private let keepsContext: Bool
    private let stream: UnsafeMutablePointer<Zlib.Stream>  // has a fixed address, because zlib stores it

    /// Creates a deflater.
    ///
    /// - Parameters:
    ///   - zlib: The library.
    ///   - windowBits: The binary logarithm of the window, 9 to 15.
    ///   - keepsContext: Whether a message may refer to the messages before it.
    /// - Throws: zlib's failure to start.
    init(_ zlib: Zlib, windowBits: Int, keepsContext: Bool) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        self.keepsContext = keepsContext
        stream = .allocate(capacity: 1)
        stream.initialize(to: Zlib.Stream())
        // Level 6, method 8 (deflate), no header, memory level 8.
        let code = zlib.deflateInit2(
            stream, 6, 8, CInt(-windowBits), 8, 0, zlib.version(), CInt(MemoryLayout<Zlib.Stream>.size))
        guard code == 0 else { throw DynamicLibrary.Failure(text: "zlib cannot start, with its code \(code)") }
    }

    deinit {
        _ = zlib.deflateEnd(stream)
        stream.deallocate()
    }

    /// Returns a message's compressed form, without the tail. Nil if zlib fails.
    func compress(_ message: Data) -> Data? {
        // RFC 7692 §7.2.3.6. zlib writes nothing for a second empty message.
        if message.isEmpty { return Data([0x00]) }
        defer { if !keepsContext { _ = zlib.deflateReset(stream) } }
        var result = Data()
        var rest = message
        let size = 64 << 10
        let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        defer { piece.deallocate() }
        repeat {
            let count = min(rest.count, 1 << 20)
            let isLast = count == rest.count
            let code = rest.withUnsafeBytes { bytes in
                stream.pointee.nextIn = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                stream.pointee.availableIn = CUnsignedInt(count)
                stream.pointee.nextOut = piece
                stream.pointee.availableOut = CUnsignedInt(size)
                return zlib.deflate(stream, isLast ? 2 : 0)  // Z_SYNC_FLUSH, Z_NO_FLUSH
            }
            guard code == 0 || code == -5 else { return nil }
            rest = rest.dropFirst(count - Int(stream.pointee.availableIn))
            result.append(piece, count: size - Int(stream.pointee.availableOut))
        } while !rest.isEmpty || stream.pointee.availableOut == 0
        guard result.suffix(4) == MessageInflater.tail else { return nil }
        return Data(result.dropLast(4))
    }
}
