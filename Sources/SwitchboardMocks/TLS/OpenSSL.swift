import SwitchboardPlatform
import Foundation
import Switchboard

/// The system's OpenSSL, 1.1.1 or 3.
///
/// The package has no OpenSSL headers. It looks up the functions by name and declares their types as in the manual,
/// which are the same for both versions.
struct OpenSSL: @unchecked Sendable {  // pointers to functions, which never change
    /// A pointer to an object of the library.
    typealias Object = OpaquePointer

    let certificates: CertificateFunctions
    let connections: ConnectionFunctions
    let memory: MemoryFunctions

    /// The library, or the reason why it cannot be loaded.
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
        try OpenSSL(firstOf: DynamicLibrary.namesOfOpenSSL)
    }

    init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        certificates = try CertificateFunctions(library)
        connections = try ConnectionFunctions(library)
        memory = try MemoryFunctions(library)
    }

    /// Returns the loaded library.
    ///
    /// - Throws: ``/Switchboard/NetworkError/Code/unsupported`` without a usable OpenSSL.
    static func load(_ loaded: Result<OpenSSL, DynamicLibrary.Failure> = loaded) throws(NetworkError) -> OpenSSL {
        switch loaded {
        case .success(let openSSL): return openSSL
        case .failure(let failure):
            throw NetworkError(.unsupported, reason: "MockServer: TLS needs OpenSSL, and \(failure.text)")
        }
    }

    // MARK: Errors

    /// Returns this thread's oldest error, or 0 without one, and clears all errors.
    func takeError() -> UInt {
        defer { memory.clearErrors() }
        return memory.getError()
    }

    /// Returns an error with OpenSSL's description of the failure.
    func failure(_ what: String) -> NetworkError {
        var text = [CChar](repeating: 0, count: 256)
        memory.describeError(takeError(), &text, text.count)
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return NetworkError(.insecureConnection, reason: "MockServer: OpenSSL cannot \(what): \(words)")
    }

    // MARK: Buffers

    /// Creates a buffer in memory (a `BIO`). The caller frees it.
    func makeBuffer() throws(NetworkError) -> Object {
        guard let buffer = memory.newBuffer(memory.inMemory()) else { throw failure("make a buffer") }
        return buffer
    }

    /// Appends bytes to a buffer.
    func write(_ bytes: UnsafeRawBufferPointer, to buffer: Object) {
        // A buffer in memory accepts all bytes unless memory runs out.
        _ = memory.writeBuffer(buffer, bytes.baseAddress, Int32(bytes.count))
    }

    /// Removes all bytes from a buffer and returns them.
    func readAll(from buffer: Object) -> Data {
        var all = Data()
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { piece in
            while true {
                let count = Int(memory.readBuffer(buffer, piece.baseAddress, Int32(piece.count)))
                guard count > 0 else { return }
                all.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            }
        }
        return all
    }

    /// Returns the PEM text that `write` writes to a buffer.
    func pem(_ what: String, _ write: (Object) -> Int32) throws(NetworkError) -> Data {
        let buffer = try makeBuffer()
        defer { memory.freeBuffer(buffer) }
        guard write(buffer) == 1 else { throw failure("write \(what)") }
        return readAll(from: buffer)
    }
}

extension OpenSSL {
    /// The functions for buffers and errors.
    struct MemoryFunctions {
        let newBuffer: @convention(c) (Object?) -> Object?
        let inMemory: @convention(c) () -> Object?
        let freeBuffer: @convention(c) (Object?) -> Void
        let readBuffer: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
        let writeBuffer: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
        let getError: @convention(c) () -> UInt
        let clearErrors: @convention(c) () -> Void
        let describeError: @convention(c) (UInt, UnsafeMutablePointer<CChar>, Int) -> Void

        init(_ library: DynamicLibrary) throws(DynamicLibrary.Failure) {
            newBuffer = try library.function("BIO_new")
            inMemory = try library.function("BIO_s_mem")
            freeBuffer = try library.function("BIO_vfree")
            readBuffer = try library.function("BIO_read")
            writeBuffer = try library.function("BIO_write")
            getError = try library.function("ERR_get_error")
            clearErrors = try library.function("ERR_clear_error")
            describeError = try library.function("ERR_error_string_n")
        }
    }
}
