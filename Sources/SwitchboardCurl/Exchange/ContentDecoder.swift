#if os(Linux)
import SwitchboardPlatform

/// Decodes the content codings of a body ([RFC 9110 §8.4](https://www.rfc-editor.org/rfc/rfc9110#section-8.4)) in pieces, by
/// the libraries of the system that libcurl uses too. libcurl itself does not report coded data that ends early.
final class ContentDecoder {
    // The libraries that the process has loaded, by libcurl's bits for them.
    private static let zlib = CurlLibrary.features & (1 << 3) != 0 ? try? Zlib.loaded.get() : nil
    private static let brotli = CurlLibrary.features & (1 << 23) != 0 ? try? Brotli() : nil
    private static let zstd = CurlLibrary.features & (1 << 26) != 0 ? try? Zstd() : nil

    static let names: Set<String> = {
        var names: Set<String> = zlib == nil ? [] : ["gzip", "x-gzip", "deflate"]
        if brotli != nil { names.insert("br") }
        if zstd != nil { names.insert("zstd") }
        return names
    }()

    /// The last coding first, because a server applies them in the order of the field.
    private let coders: [Coder]

    /// Creates a decoder for codings of ``names``, in the order of the field. Servers use one.
    init(_ names: [String]) throws(DynamicLibrary.Failure) {
        guard names.count <= 5 else { throw DynamicLibrary.Failure(text: "more than 5 content codings") }
        var coders: [Coder] = []
        for name in names.reversed() {
            switch name {
            case "br": if let brotli = Self.brotli { coders.append(try BrotliCoder(brotli)) }
            case "zstd": if let zstd = Self.zstd { coders.append(try ZstdCoder(zstd)) }
            default: if let zlib = Self.zlib { coders.append(try ZlibCoder(zlib, isGzip: name != "deflate")) }
            }
        }
        self.coders = coders
    }

    /// Whether the coded data has ended, so that the body is complete.
    var isComplete: Bool { coders.allSatisfy(\.isComplete) }

    /// The number of bytes of the input that are not decoded yet.
    var unread: Int { coders.first?.input.count ?? 0 }

    /// Sets the next input, after ``next()`` returned nil or instead of an input that is repeated from its unread bytes on.
    /// It must stay valid until then.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        coders.first?.input = bytes
    }

    /// Returns the next decoded bytes, which are valid until the next call. Nil when more input is needed.
    func next() throws(DynamicLibrary.Failure) -> UnsafeRawBufferPointer? {
        var index = coders.count - 1
        while index >= 0 {
            let piece = try coders[index].next()
            if piece.isEmpty {
                index -= 1
            } else if index == coders.count - 1 {
                return piece
            } else {
                index += 1
                coders[index].input = piece
            }
        }
        return nil
    }
}

private class Coder {
    static let pieceSize = 32 << 10
    let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: pieceSize)
    var input = UnsafeRawBufferPointer(start: nil, count: 0)
    var isComplete = false

    deinit {
        piece.deallocate()
    }

    /// Decodes input into the piece once. Returns the number of bytes decoded.
    func decode() throws(DynamicLibrary.Failure) -> Int { 0 }

    /// Returns the next decoded bytes. Empty when more input is needed.
    final func next() throws(DynamicLibrary.Failure) -> UnsafeRawBufferPointer {
        while true {
            let before = input.count
            let count = try decode()
            if count > 0 || input.isEmpty {
                return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<count])
            }
            guard input.count < before || isComplete else { throw DynamicLibrary.Failure(text: "no progress") }
        }
    }

    final func keep(_ count: Int) {
        input = UnsafeRawBufferPointer(rebasing: input.suffix(count))
    }
}

/// Decodes `gzip` with all its members, and `deflate`, which some servers send without the header of zlib. Other bytes after
/// the end are ignored, as browsers do.
private final class ZlibCoder: Coder {
    private let zlib: Zlib
    private let isGzip: Bool
    /// Nil until the first two bytes of `deflate` have distinguished its forms.
    private var inflater: Inflater?
    /// The first bytes of `deflate`, or the byte after the end of `gzip` that may begin another member.
    private var start: [UInt8] = []
    /// Whether something else than a member has followed the end.
    private var hasExcess = false

    init(_ zlib: Zlib, isGzip: Bool) throws(DynamicLibrary.Failure) {
        self.zlib = zlib
        self.isGzip = isGzip
        if isGzip { inflater = try Inflater(zlib, .gzip) }
    }

    override func decode() throws(DynamicLibrary.Failure) -> Int {
        guard let inflater else { return try decodeStart() }
        if isComplete {
            guard beginsMember() else {
                keep(0)
                return 0
            }
            inflater.reset()
            _ = try decode(start, inflater)
            start = []
        }
        let (rest, count, isEnd) = try inflater.inflate(input, into: piece)
        isComplete = isEnd
        keep(rest)
        return count
    }

    /// Returns whether the input begins another member ([RFC 1952 §2.2](https://www.rfc-editor.org/rfc/rfc1952#section-2)).
    /// Stores a single byte that may do so.
    private func beginsMember() -> Bool {
        guard isGzip, !hasExcess, !input.isEmpty else { return false }
        let first = start + input.prefix(2 - start.count)
        if first == [0x1F] {
            start = first
            return false
        }
        hasExcess = first != [0x1F, 0x8B]
        return !hasExcess
    }

    /// Decodes bytes of earlier input. Returns the number of bytes decoded.
    private func decode(_ bytes: [UInt8], _ inflater: Inflater) throws(DynamicLibrary.Failure) -> Int {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(DynamicLibrary.Failure) in try inflater.inflate(bytes, into: piece) }
        }
        let (_, count, isEnd) = try result.get()
        isComplete = isEnd
        return count
    }

    private func decodeStart() throws(DynamicLibrary.Failure) -> Int {
        let added = input.prefix(2 - start.count)
        start += added
        keep(input.count - added.count)
        guard start.count == 2 else { return 0 }
        // RFC 1950 §2.2: method 8, and a multiple of 31.
        let hasHeader = start[0] & 0x0F == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        let inflater = try Inflater(zlib, hasHeader ? .zlib : .raw())
        self.inflater = inflater
        return try decode(start, inflater)
    }
}

/// The decoder of [Brotli](https://www.rfc-editor.org/rfc/rfc7932).
private struct Brotli: @unchecked Sendable {  // pointers to functions, which never change
    let make: @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> OpaquePointer?
    let decode:
        @convention(c) (
            OpaquePointer, UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafePointer<UInt8>?>,
            UnsafeMutablePointer<Int>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, UnsafeMutablePointer<Int>?
        ) -> CInt
    let destroy: @convention(c) (OpaquePointer) -> Void

    init() throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: ["libbrotlidec.so.1"])
        make = try library.function("BrotliDecoderCreateInstance")
        decode = try library.function("BrotliDecoderDecompressStream")
        destroy = try library.function("BrotliDecoderDestroyInstance")
    }
}

private final class BrotliCoder: Coder {
    private let brotli: Brotli
    private let decoder: OpaquePointer

    init(_ brotli: Brotli) throws(DynamicLibrary.Failure) {
        guard let decoder = brotli.make(nil, nil, nil) else {
            throw DynamicLibrary.Failure(text: "no memory for brotli")
        }
        (self.brotli, self.decoder) = (brotli, decoder)
    }

    deinit {
        brotli.destroy(decoder)
    }

    override func decode() throws(DynamicLibrary.Failure) -> Int {
        guard !isComplete else {
            keep(0)
            return 0
        }
        var (available, space) = (input.count, piece.count)
        var next = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        var output = piece.baseAddress
        switch brotli.decode(decoder, &available, &next, &space, &output, nil) {
        case 0: throw DynamicLibrary.Failure(text: "damaged brotli data")
        case 1: isComplete = true
        default: break  // needs more input or more space
        }
        keep(available)
        return piece.count - space
    }
}

/// The decoder of [Zstandard](https://www.rfc-editor.org/rfc/rfc8878).
private struct Zstd: @unchecked Sendable {  // pointers to functions, which never change
    struct Buffer {
        var start: UnsafeMutableRawPointer?
        var size: Int
        var position = 0
    }

    let make: @convention(c) () -> OpaquePointer?
    let set: @convention(c) (OpaquePointer, CInt, CInt) -> Int
    let decode: @convention(c) (OpaquePointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int
    let isError: @convention(c) (Int) -> CUnsignedInt
    let name: @convention(c) (Int) -> UnsafePointer<CChar>
    let destroy: @convention(c) (OpaquePointer) -> Int

    init() throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: ["libzstd.so.1"])
        make = try library.function("ZSTD_createDStream")
        set = try library.function("ZSTD_DCtx_setParameter")
        decode = try library.function("ZSTD_decompressStream")
        isError = try library.function("ZSTD_isError")
        name = try library.function("ZSTD_getErrorName")
        destroy = try library.function("ZSTD_freeDStream")
    }
}

private final class ZstdCoder: Coder {
    private let zstd: Zstd
    private let decoder: OpaquePointer
    /// Whether the piece had no space for more, so that the library may hold decoded bytes.
    private var isFull = false

    init(_ zstd: Zstd) throws(DynamicLibrary.Failure) {
        guard let decoder = zstd.make() else { throw DynamicLibrary.Failure(text: "no memory for zstd") }
        (self.zstd, self.decoder) = (zstd, decoder)
        // ZSTD_d_windowLogMax: the window of 8 MB that RFC 9659 allows.
        _ = zstd.set(decoder, 100, 23)
    }

    deinit {
        _ = zstd.destroy(decoder)
    }

    override func decode() throws(DynamicLibrary.Failure) -> Int {
        // Without input, the library would begin another frame after the end, and fail after 16 calls without output.
        guard !input.isEmpty || isFull && !isComplete else { return 0 }
        var source = Zstd.Buffer(start: UnsafeMutableRawPointer(mutating: input.baseAddress), size: input.count)
        var target = Zstd.Buffer(start: piece.baseAddress, size: piece.count)
        let code = zstd.decode(decoder, &target, &source)
        guard zstd.isError(code) == 0 else {
            throw DynamicLibrary.Failure(text: "zstd: " + String(cString: zstd.name(code)))
        }
        isComplete = code == 0
        isFull = target.position == target.size
        keep(input.count - source.position)
        return target.position
    }
}
#endif
