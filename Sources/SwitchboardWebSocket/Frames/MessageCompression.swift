import Foundation
import SwitchboardPlatform

/// Compresses messages ([RFC 7692 §7.2.1](https://www.rfc-editor.org/rfc/rfc7692#section-7.2.1)).
final class MessageDeflater: @unchecked Sendable {  // only the caller of `MessageFramer.next()` uses it
    private let deflater: Deflater
    private let keepsContext: Bool

    /// Creates a deflater. `windowBits` is the binary logarithm of the window, 9 to 15, and `keepsContext` whether a
    /// message may refer to the messages before it.
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
    /// Whether the bytes so far end in a block that ``tail`` completes. zlib would otherwise read the tail as the start of
    /// the next message.
    private var needsTail = false

    /// Creates an inflater. `keepsContext` is whether a message may refer to the messages before it.
    init(_ zlib: Zlib, keepsContext: Bool) throws(DynamicLibrary.Failure) {
        inflater = try Inflater(zlib, .raw())
        piece = .allocate(capacity: Self.pieceSize)
        self.keepsContext = keepsContext
    }

    deinit {
        piece.deallocate()
    }

    /// Passes the content of compressed bytes to `body`, in pieces that are valid until it returns.
    func inflate(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(WebSocketViolation) -> Void
    ) throws(WebSocketViolation) {
        var input = bytes
        while true {
            let result = Result { () throws(DynamicLibrary.Failure) in try inflater.inflate(input, into: piece) }
            guard case .success(let (rest, count, isEnd)) = result else { throw Self.damage }
            if isEnd { inflater.reset() }  // a block was marked as the last one (RFC 7692 §7.2.3.4)
            if isEnd || !input.isEmpty { needsTail = !isEnd }
            let isStuck = rest == input.count
            input = UnsafeRawBufferPointer(rebasing: input.suffix(rest))
            if count > 0 {
                try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<count]))
            } else if input.isEmpty {
                return
            } else if isStuck {
                throw Self.damage
            }
        }
    }

    /// Ends a message: passes the rest of its content to `body`, and clears the window if the next message must not refer
    /// to this one.
    func endMessage(
        _ body: (UnsafeRawBufferPointer) throws(WebSocketViolation) -> Void
    ) throws(WebSocketViolation) {
        if needsTail {
            let result = Self.tail.withUnsafeBytes { tail in
                Result { () throws(WebSocketViolation) in try inflate(tail, body) }
            }
            try result.get()
            needsTail = false
        }
        if !keepsContext { inflater.reset() }
    }

    private static var damage: WebSocketViolation {
        WebSocketViolation("a compressed message is damaged", code: .invalidPayload)
    }
}
