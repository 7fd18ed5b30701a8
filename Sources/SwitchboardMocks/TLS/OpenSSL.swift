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

extension OpenSSL {
    /// The functions for keys and certificates.
    struct CertificateFunctions {
        // EVP_PKEY
        let newKeyContext: @convention(c) (Int32, Object?) -> Object?
        let freeKeyContext: @convention(c) (Object?) -> Void
        let beginKey: @convention(c) (Object?) -> Int32
        let setKeyOption: @convention(c) (Object?, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
        let makeKey: @convention(c) (Object?, UnsafeMutablePointer<Object?>) -> Int32
        let freeKey: @convention(c) (Object?) -> Void
        // X509
        let new: @convention(c) () -> Object?
        let free: @convention(c) (Object?) -> Void
        let setVersion: @convention(c) (Object?, Int) -> Int32
        let serialNumber: @convention(c) (Object?) -> Object?
        let setInteger: @convention(c) (Object?, UInt64) -> Int32
        let begin: @convention(c) (Object?) -> Object?
        let end: @convention(c) (Object?) -> Object?
        let setSecondsFromNow: @convention(c) (Object?, Int) -> Object?
        let setKey: @convention(c) (Object?, Object?) -> Int32
        let subject: @convention(c) (Object?) -> Object?
        let setIssuer: @convention(c) (Object?, Object?) -> Int32
        let addToName:
            @convention(c) (Object?, UnsafePointer<CChar>, Int32, UnsafePointer<UInt8>, Int32, Int32, Int32) -> Int32
        let sha256: @convention(c) () -> Object?
        let sign: @convention(c) (Object?, Object?, Object?) -> Int32
        // X509_EXTENSION
        let setExtensionContext:
            @convention(c) (UnsafeMutableRawPointer, Object?, Object?, Object?, Object?, Int32) -> Void
        let newExtension: @convention(c) (Object?, UnsafeMutableRawPointer, Int32, UnsafePointer<CChar>) -> Object?
        let addExtension: @convention(c) (Object?, Object?, Int32) -> Int32
        let freeExtension: @convention(c) (Object?) -> Void
        // PEM
        let writeCertificate: @convention(c) (Object?, Object?) -> Int32
        let writeKey:
            @convention(c) (
                Object?, Object?, Object?, UnsafePointer<UInt8>?, Int32, UnsafeRawPointer?, UnsafeRawPointer?
            ) -> Int32
        let readCertificate:
            @convention(c) (Object?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?) -> Object?

        init(_ library: DynamicLibrary) throws(DynamicLibrary.Failure) {
            newKeyContext = try library.function("EVP_PKEY_CTX_new_id")
            freeKeyContext = try library.function("EVP_PKEY_CTX_free")
            beginKey = try library.function("EVP_PKEY_keygen_init")
            setKeyOption = try library.function("EVP_PKEY_CTX_ctrl_str")
            makeKey = try library.function("EVP_PKEY_keygen")
            freeKey = try library.function("EVP_PKEY_free")
            new = try library.function("X509_new")
            free = try library.function("X509_free")
            setVersion = try library.function("X509_set_version")
            serialNumber = try library.function("X509_get_serialNumber")
            setInteger = try library.function("ASN1_INTEGER_set_uint64")
            begin = try library.function("X509_getm_notBefore")
            end = try library.function("X509_getm_notAfter")
            setSecondsFromNow = try library.function("X509_gmtime_adj")
            setKey = try library.function("X509_set_pubkey")
            subject = try library.function("X509_get_subject_name")
            setIssuer = try library.function("X509_set_issuer_name")
            addToName = try library.function("X509_NAME_add_entry_by_txt")
            sha256 = try library.function("EVP_sha256")
            sign = try library.function("X509_sign")
            setExtensionContext = try library.function("X509V3_set_ctx")
            newExtension = try library.function("X509V3_EXT_conf_nid")
            addExtension = try library.function("X509_add_ext")
            freeExtension = try library.function("X509_EXTENSION_free")
            writeCertificate = try library.function("PEM_write_bio_X509")
            writeKey = try library.function("PEM_write_bio_PrivateKey")
            readCertificate = try library.function("PEM_read_bio_X509")
        }
    }
}

extension OpenSSL {
    /// The functions for connections (`SSL`) and their shared context (`SSL_CTX`).
    struct ConnectionFunctions {
        /// Chooses among the protocols that a client offers (ALPN).
        typealias ProtocolChoice =
            @convention(c) (
                Object?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
                UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
            ) -> Int32

        // SSL_CTX
        let serverMethod: @convention(c) () -> Object?
        let newContext: @convention(c) (Object?) -> Object?
        let freeContext: @convention(c) (Object?) -> Void
        let control: @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
        let setOptions: @convention(c) (Object?, UInt64) -> UInt64
        let setTickets: @convention(c) (Object?, Int) -> Int32
        let setCiphers: @convention(c) (Object?, UnsafePointer<CChar>) -> Int32
        let useCertificate: @convention(c) (Object?, Object?) -> Int32
        let useKey: @convention(c) (Object?, Object?) -> Int32
        let setProtocolChoice: @convention(c) (Object?, ProtocolChoice?, UnsafeMutableRawPointer?) -> Void
        let setVerification: @convention(c) (Object?, Int32, UnsafeRawPointer?) -> Void
        let trustedCertificates: @convention(c) (Object?) -> Object?
        let addTrusted: @convention(c) (Object?, Object?) -> Int32
        let addClientAuthority: @convention(c) (Object?, Object?) -> Int32
        // SSL
        let new: @convention(c) (Object?) -> Object?
        let free: @convention(c) (Object?) -> Void
        let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void
        let setServer: @convention(c) (Object?) -> Void
        let isEstablished: @convention(c) (Object?) -> Int32
        let read: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
        let write: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
        let outcome: @convention(c) (Object?, Int32) -> Int32
        let shutDown: @convention(c) (Object?) -> Int32

        init(_ library: DynamicLibrary) throws(DynamicLibrary.Failure) {
            serverMethod = try library.function("TLS_server_method")
            newContext = try library.function("SSL_CTX_new")
            freeContext = try library.function("SSL_CTX_free")
            control = try library.function("SSL_CTX_ctrl")
            setOptions = try library.function("SSL_CTX_set_options")
            setTickets = try library.function("SSL_CTX_set_num_tickets")
            setCiphers = try library.function("SSL_CTX_set_cipher_list")
            useCertificate = try library.function("SSL_CTX_use_certificate")
            useKey = try library.function("SSL_CTX_use_PrivateKey")
            setProtocolChoice = try library.function("SSL_CTX_set_alpn_select_cb")
            setVerification = try library.function("SSL_CTX_set_verify")
            trustedCertificates = try library.function("SSL_CTX_get_cert_store")
            addTrusted = try library.function("X509_STORE_add_cert")
            addClientAuthority = try library.function("SSL_CTX_add_client_CA")
            new = try library.function("SSL_new")
            free = try library.function("SSL_free")
            setBuffers = try library.function("SSL_set_bio")
            setServer = try library.function("SSL_set_accept_state")
            isEstablished = try library.function("SSL_is_init_finished")
            read = try library.function("SSL_read")
            write = try library.function("SSL_write")
            outcome = try library.function("SSL_get_error")
            shutDown = try library.function("SSL_shutdown")
        }
    }
}
