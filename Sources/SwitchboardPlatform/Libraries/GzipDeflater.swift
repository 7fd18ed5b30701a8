import Foundation

/// Compresses bytes into one gzip member ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)) without name and time, so
/// equal bytes produce an equal member.
///
/// Its memory use is constant: zlib's 256 KiB, one piece of output and the current input.
package final class GzipDeflater {
    /// The maximum number of bytes of a piece.
    package static let pieceSize = 64 << 10

    private let zlib: Zlib
    private let stream: UnsafeMutablePointer<Zlib.Stream>  // has a fixed address, because zlib stores it
    private var input = Data()
    private var offset = 0
    private var isInputEnded = false
    private var isEnded = false
    private let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: pieceSize)
    private var filled = 0

    package init(_ zlib: Zlib) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        stream = .allocate(capacity: 1)
        stream.initialize(to: Zlib.Stream())
        // Level 6, method 8 (deflate), a window of 2^15 bytes, 16 more for a gzip header, memory level 8.
        let code = zlib.deflateInit2(
            stream, 6, 8, 15 + 16, 8, 0, zlib.version(), CInt(MemoryLayout<Zlib.Stream>.size))
        guard code == 0 else {
            stream.pointee.state = nil
            throw DynamicLibrary.Failure(text: "zlib cannot start, with its code \(code)")
        }
    }

    deinit {
        if stream.pointee.state != nil { _ = zlib.deflateEnd(stream) }
        stream.deallocate()
        piece.deallocate()
    }

    /// Whether the deflater needs more input, or ``finish()``, before it can return another piece.
    package var isHungry: Bool { offset == input.count && !isInputEnded }

    /// Sets the next input. Call it only when ``isHungry`` is true.
    package func feed(_ data: Data) {
        input = data
        offset = 0
    }

    /// Marks the end of the input.
    package func finish() {
        isInputEnded = true
    }

    /// Returns the next piece, which is full unless it is the last one. Nil when more input is needed, and after the
    /// last piece.
    package func next() throws(DynamicLibrary.Failure) -> Data? {
        guard !isEnded else { return nil }
        repeat {
            try deflate()
        } while filled < Self.pieceSize && !isHungry && !isEnded
        guard filled == Self.pieceSize || isEnded else { return nil }
        defer { filled = 0 }
        return Data(bytes: piece, count: filled)
    }

    /// Compresses as much of the input as fits into the piece.
    private func deflate() throws(DynamicLibrary.Failure) {
        let count = min(input.count - offset, 1 << 20)
        let isLast = isInputEnded && offset + count == input.count
        let code = input.withUnsafeBytes { input in
            let start = input.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + offset }
            stream.pointee.nextIn = count > 0 ? start : nil
            stream.pointee.availableIn = CUnsignedInt(count)
            stream.pointee.nextOut = piece + filled
            stream.pointee.availableOut = CUnsignedInt(Self.pieceSize - filled)
            return zlib.deflate(stream, isLast ? 4 : 0)  // Z_FINISH, Z_NO_FLUSH
        }
        offset += count - Int(stream.pointee.availableIn)
        filled = Self.pieceSize - Int(stream.pointee.availableOut)
        isEnded = code == 1
        // Z_OK, Z_STREAM_END, and Z_BUF_ERROR, which only means that zlib made no progress.
        guard [0, 1, -5].contains(code) else {
            throw DynamicLibrary.Failure(text: "zlib cannot go on, with its code \(code)")
        }
    }
}
