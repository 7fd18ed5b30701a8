#if canImport(Darwin)
private let zlibNames = ["/usr/lib/libz.1.dylib"]
#else
private let zlibNames = ["libz.so.1"]
#endif

/// The compression functions of the system's zlib ([manual](https://zlib.net/manual.html)).
///
/// The functions are looked up by name, because zlib's headers are not available. On Linux, libcurl depends on zlib.
package struct Zlib: @unchecked Sendable {  // pointers to functions, which never change
    /// `z_stream` of zlib.h, member by member. Its numbers are C's `int` and `long`: 112 bytes with 64-bit pointers,
    /// and 56 with 32-bit pointers. zlib receives the size and rejects a different one.
    struct Stream {
        var nextIn: UnsafePointer<UInt8>?
        var availableIn: CUnsignedInt = 0
        var totalIn: CUnsignedLong = 0
        var nextOut: UnsafeMutablePointer<UInt8>?
        var availableOut: CUnsignedInt = 0
        var totalOut: CUnsignedLong = 0
        var message: UnsafePointer<CChar>?
        var state: OpaquePointer?
        var allocate: OpaquePointer?
        var free: OpaquePointer?
        var allocator: UnsafeMutableRawPointer?
        var dataType: CInt = 0
        var checksum: CUnsignedLong = 0
        var reserved: CUnsignedLong = 0
    }

    /// The format of compressed data.
    package enum Format {
        /// [RFC 1950](https://www.rfc-editor.org/rfc/rfc1950).
        case zlib
        /// [RFC 1952](https://www.rfc-editor.org/rfc/rfc1952). A deflater writes one member without name and time, so equal
        /// bytes produce an equal member.
        case gzip
        /// A deflate stream without a header ([RFC 1951](https://www.rfc-editor.org/rfc/rfc1951)). `windowBits` is the binary
        /// logarithm of the window: 9 to 15. The largest window inflates the data of each sender.
        case raw(windowBits: Int = 15)

        /// The argument `windowBits` of zlib's functions.
        var windowBits: CInt {
            switch self {
            case .zlib: 15
            case .gzip: 15 + 16
            case .raw(let windowBits): -CInt(windowBits)
            }
        }
    }

    let version: @convention(c) () -> UnsafePointer<CChar>?
    let deflateInit2:
        @convention(c) (UnsafeMutableRawPointer, CInt, CInt, CInt, CInt, CInt, UnsafePointer<CChar>?, CInt) -> CInt
    let deflate: @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
    let deflateEnd: @convention(c) (UnsafeMutableRawPointer) -> CInt
    let deflateReset: @convention(c) (UnsafeMutableRawPointer) -> CInt
    let inflateInit2: @convention(c) (UnsafeMutableRawPointer, CInt, UnsafePointer<CChar>?, CInt) -> CInt
    let inflate: @convention(c) (UnsafeMutableRawPointer, CInt) -> CInt
    let inflateEnd: @convention(c) (UnsafeMutableRawPointer) -> CInt
    let inflateReset: @convention(c) (UnsafeMutableRawPointer) -> CInt

    /// The library, or the reason why it is missing.
    package static let loaded = Result { () throws(DynamicLibrary.Failure) in try Zlib(firstOf: zlibNames) }

    package init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        version = try library.function("zlibVersion")
        deflateInit2 = try library.function("deflateInit2_")
        deflate = try library.function("deflate")
        deflateEnd = try library.function("deflateEnd")
        deflateReset = try library.function("deflateReset")
        inflateInit2 = try library.function("inflateInit2_")
        inflate = try library.function("inflate")
        inflateEnd = try library.function("inflateEnd")
        inflateReset = try library.function("inflateReset")
    }
}
