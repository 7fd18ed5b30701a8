import Foundation
import SwitchboardPlatform

/// Compresses messages ([RFC 7692 §7.2.1](https://www.rfc-editor.org/rfc/rfc7692#section-7.2.1)).
final class MessageDeflater: @unchecked Sendable {  // only the caller of `MessageFramer.next()` uses it
    private let deflater: Deflater
    private let keepsContext: Bool

    /// Creates a deflater.
    ///
    /// - Parameters:
    ///   - zlib: The library.
    ///   - windowBits: The binary logarithm of the window, 9 to 15.
    ///   - keepsContext: Whether a message may refer to the messages before it.
    /// - Throws: zlib's failure to start.
    init(_ zlib: Zlib, windowBits: Int, keepsContext: Bool) throws(DynamicLibrary.Failure) {
        deflater = try Deflater(zlib, .raw(windowBits: windowBits))
        self.keepsContext = keepsContext
    }

    /// Returns a message's compressed form, without the tail. Nil if zlib fails.
    func compress(_ message: Data) -> Data? {
        // RFC 7692 §7.2.3.6. zlib writes nothing for a second empty message.
        if message.isEmpty { return Data([0x00]) }
        defer { if !keepsContext { deflater.reset() } }
        deflater.feed(message, .sync)
        var result = Data()
        do {
            while let piece = try deflater.next() { result += piece }
        } catch {
            return nil
        }
        guard result.suffix(4) == MessageInflater.tail else { return nil }
        return Data(result.dropLast(4))
    }
}

/// Decompresses messages ([RFC 7692 §7.2.2](https://www.rfc-editor.org/rfc/rfc7692#section-7.2.2)) in pieces, so that
/// the caller can reject a message that is too large.
final class MessageInflater {
    /// The bytes that a sender removes from the end of a compressed message.
    static let tail = Data([0x00, 0x00, 0xFF, 0xFF])
    private static let pieceSize = 64 << 10

    private let zlib: Zlib
    private let keepsContext: Bool
    private let stream: UnsafeMutablePointer<Zlib.Stream>  // has a fixed address, because zlib stores it
    private let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: pieceSize)
    private var input = Data()

    /// Creates an inflater.
    ///
    /// - Parameters:
    ///   - zlib: The library.
    ///   - keepsContext: Whether a message may refer to the messages before it.
    /// - Throws: zlib's failure to start.
    init(_ zlib: Zlib, keepsContext: Bool) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        self.keepsContext = keepsContext
        stream = .allocate(capacity: 1)
        stream.initialize(to: Zlib.Stream())
        // A window of 2^15 bytes, which fits every sender. A negative number means no header.
        let code = zlib.inflateInit2(stream, -15, zlib.version(), CInt(MemoryLayout<Zlib.Stream>.size))
        guard code == 0 else { throw DynamicLibrary.Failure(text: "zlib cannot start, with its code \(code)") }
    }

    deinit {
        _ = zlib.inflateEnd(stream)
        stream.deallocate()
        piece.deallocate()
    }

    /// Sets the next input, after ``next()`` returned nil.
    func feed(_ data: Data) {
        input = data
    }

    /// Returns the next piece, which is valid until the next call. Nil when more input is needed.
    func next() throws(WebSocketViolation) -> UnsafeRawBufferPointer? {
        var isMoving = true
        while isMoving {
            let before = input.count
            let (code, filled) = inflate()
            switch code {
            case 0, -5: break  // Z_OK, and Z_BUF_ERROR: no progress was possible.
            case 1: _ = zlib.inflateReset(stream)  // A block was marked as the last one (RFC 7692 §7.2.3.4).
            default: throw WebSocketViolation("a compressed message is damaged", code: .invalidPayload)
            }
            if filled > 0 { return UnsafeRawBufferPointer(start: piece, count: filled) }
            isMoving = !input.isEmpty && input.count < before
        }
        guard input.isEmpty else { throw WebSocketViolation("a compressed message is damaged", code: .invalidPayload) }
        return nil
    }

    /// Ends a message. Clears the window if the next message must not refer to this one.
    func endMessage() {
        if !keepsContext { _ = zlib.inflateReset(stream) }
    }

    private func inflate() -> (code: CInt, filled: Int) {
        let count = min(input.count, 1 << 20)
        let code = input.withUnsafeBytes { bytes in
            stream.pointee.nextIn = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.availableIn = CUnsignedInt(count)
            stream.pointee.nextOut = piece
            stream.pointee.availableOut = CUnsignedInt(Self.pieceSize)
            return zlib.inflate(stream, 2)  // Z_SYNC_FLUSH
        }
        input = input.dropFirst(count - Int(stream.pointee.availableIn))
        return (code, Self.pieceSize - Int(stream.pointee.availableOut))
    }
}
