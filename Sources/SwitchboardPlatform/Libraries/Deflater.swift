import Foundation

/// Compresses bytes with zlib. Its memory use is constant: zlib's 256 KiB, one piece of output and the current input.
package final class Deflater {
    /// The output at the end of an input, with zlib's numbers: zlib may hold bytes back, zlib writes all bytes, or zlib
    /// writes all bytes and the end of the stream.
    package enum Flush: CInt { case none = 0, sync = 2, finish = 4 }

    /// The maximum number of bytes of a piece.
    package static let pieceSize = 64 << 10

    private let zlib: Zlib
    private let stream: UnsafeMutablePointer<Zlib.Stream>  // has a fixed address, because zlib stores it
    private var input = Data()
    private var offset = 0
    private var flush = Flush.none
    private let piece = UnsafeMutablePointer<UInt8>.allocate(capacity: pieceSize)
    private var filled = 0

    package init(_ zlib: Zlib, _ format: Zlib.Format) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        stream = .allocate(capacity: 1)
        stream.initialize(to: Zlib.Stream())
        // Level 6, method 8 (deflate), memory level 8.
        let code = zlib.deflateInit2(
            stream, 6, 8, format.windowBits, 8, 0, zlib.version(), CInt(MemoryLayout<Zlib.Stream>.size))
        guard code == 0 else { throw DynamicLibrary.Failure(text: "zlib cannot start, with its code \(code)") }
    }

    deinit {
        _ = zlib.deflateEnd(stream)  // does nothing if zlib did not start
        stream.deallocate()
        piece.deallocate()
    }

    private var needsInput: Bool { offset == input.count && flush == .none }

    /// Sets the next input, after ``next()`` returned nil.
    package func feed(_ data: Data, _ flush: Flush = .none) {
        (input, offset, self.flush) = (data, 0, flush)
    }

    /// Forgets the earlier input, so that later output does not refer to it.
    package func reset() { _ = zlib.deflateReset(stream) }

    /// Returns the next piece, which is full unless it ends a flush. Nil when more input is needed.
    package func next() throws(DynamicLibrary.Failure) -> Data? {
        while !needsInput {
            let isFlushed = try deflate()
            if isFlushed { (input, offset, flush) = (Data(), 0, .none) }
            guard isFlushed || filled == Self.pieceSize else { continue }
            defer { filled = 0 }
            return filled == 0 ? nil : Data(bytes: piece, count: filled)
        }
        return nil
    }

    /// Compresses as much of the input as fits into the piece. Returns whether that completes a flush.
    private func deflate() throws(DynamicLibrary.Failure) -> Bool {
        let count = min(input.count - offset, 1 << 20)
        let isLast = offset + count == input.count
        let code = input.withUnsafeBytes { input in
            let start = input.baseAddress.map { $0.assumingMemoryBound(to: UInt8.self) + offset }
            stream.pointee.nextIn = count > 0 ? start : nil
            stream.pointee.availableIn = CUnsignedInt(count)
            stream.pointee.nextOut = piece + filled
            stream.pointee.availableOut = CUnsignedInt(Self.pieceSize - filled)
            return zlib.deflate(stream, (isLast ? flush : .none).rawValue)
        }
        offset += count - Int(stream.pointee.availableIn)
        filled = Self.pieceSize - Int(stream.pointee.availableOut)
        switch code {
        case 1: return true  // Z_STREAM_END
        // Z_OK, and Z_BUF_ERROR, which only means that zlib made no progress.
        case 0, -5: return isLast && flush == .sync && offset == input.count && filled < Self.pieceSize
        default: throw DynamicLibrary.Failure(text: "zlib fails to compress, with its code \(code)")
        }
    }
}
