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

    private let inflater: Inflater
    private let keepsContext: Bool
    private let piece: UnsafeMutableBufferPointer<UInt8>
    private var input = Data()

    /// Creates an inflater.
    ///
    /// - Parameters:
    ///   - zlib: The library.
    ///   - keepsContext: Whether a message may refer to the messages before it.
    /// - Throws: zlib's failure to start.
    init(_ zlib: Zlib, keepsContext: Bool) throws(DynamicLibrary.Failure) {
        inflater = try Inflater(zlib, .raw())
        piece = .allocate(capacity: Self.pieceSize)
        self.keepsContext = keepsContext
    }

    deinit {
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
            let count = try inflate()
            if count > 0 { return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<count]) }
            isMoving = !input.isEmpty && input.count < before
        }
        guard input.isEmpty else { throw Self.damage }
        return nil
    }

    /// Ends a message. Clears the window if the next message must not refer to this one.
    func endMessage() {
        if !keepsContext { inflater.reset() }
    }

    private func inflate() throws(WebSocketViolation) -> Int {
        let result = input.withUnsafeBytes { bytes in
            Result { () throws(DynamicLibrary.Failure) in try inflater.inflate(bytes, into: piece) }
        }
        guard case .success(let (rest, count, isEnd)) = result else { throw Self.damage }
        input = input.suffix(rest)
        if isEnd { inflater.reset() }  // a block was marked as the last one (RFC 7692 §7.2.3.4)
        return count
    }

    private static var damage: WebSocketViolation {
        WebSocketViolation("a compressed message is damaged", code: .invalidPayload)
    }
}
