/// Decompresses bytes with zlib.
package final class Inflater {
    private let zlib: Zlib
    private let stream: UnsafeMutablePointer<Zlib.Stream>  // has a fixed address, because zlib stores it

    package init(_ zlib: Zlib, _ format: Zlib.Format) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        stream = .allocate(capacity: 1)
        stream.initialize(to: Zlib.Stream())
        let code = zlib.inflateInit2(
            stream, format.windowBits, zlib.version(), CInt(MemoryLayout<Zlib.Stream>.size))
        guard code == 0 else { throw DynamicLibrary.Failure(text: "zlib cannot start, with its code \(code)") }
    }

    deinit {
        _ = zlib.inflateEnd(stream)  // does nothing if zlib did not start
        stream.deallocate()
    }

    /// Forgets the earlier input, so that later input begins a new stream.
    package func reset() { _ = zlib.inflateReset(stream) }

    /// Decompresses bytes until the input, the space for the output or the compressed data ends. Reads at most 1 MiB of
    /// the input.
    ///
    /// - Returns: The number of bytes that are left of the input, the number of bytes in the output, and whether the
    ///   compressed data has ended.
    /// - Throws: zlib's words for damaged data.
    package func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(DynamicLibrary.Failure) -> (rest: Int, count: Int, isEnd: Bool) {
        let size = min(input.count, 1 << 20)
        stream.pointee.nextIn = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.availableIn = CUnsignedInt(size)
        stream.pointee.nextOut = output.baseAddress
        stream.pointee.availableOut = CUnsignedInt(output.count)
        let code = zlib.inflate(stream, 2)  // Z_SYNC_FLUSH
        // Z_OK, Z_STREAM_END, and Z_BUF_ERROR, which only means that zlib made no progress.
        guard code == 0 || code == 1 || code == -5 else {
            let text = stream.pointee.message.map { String(cString: $0) } ?? "zlib's code \(code)"
            throw DynamicLibrary.Failure(text: text)
        }
        let rest = input.count - size + Int(stream.pointee.availableIn)
        return (rest, output.count - Int(stream.pointee.availableOut), code == 1)
    }
}
