import SwitchboardPlatform
import Foundation
import Switchboard

/// The system's OpenSSL, 1.1.1 or 3.
///
/// The package has no OpenSSL headers. It looks up the functions by name and declares their types as in the manual,
/// which are the same for both versions.
struct OpenSSL: @unchecked Sendable {  // pointers to functions, which never change
    typealias Object = OpaquePointer

    /// Chooses among the protocols that a client offers (ALPN).
    typealias ProtocolChoice =
        @convention(c) (
            Object?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
            UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
        ) -> Int32

    // Keys (`EVP_PKEY`)
    let newKeyContext: @convention(c) (Int32, Object?) -> Object?
    let freeKeyContext: @convention(c) (Object?) -> Void
    let beginKey: @convention(c) (Object?) -> Int32
    let setKeyOption: @convention(c) (Object?, UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    let generateKey: @convention(c) (Object?, UnsafeMutablePointer<Object?>) -> Int32
    let freeKey: @convention(c) (Object?) -> Void
    // Buffers (`BIO`) and errors
    let newBuffer: @convention(c) (Object?) -> Object?
    let inMemory: @convention(c) () -> Object?
    let freeBuffer: @convention(c) (Object?) -> Void
    let readBuffer: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
    let writeBuffer: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
    let getError: @convention(c) () -> UInt
    let clearErrors: @convention(c) () -> Void
    let describeError: @convention(c) (UInt, UnsafeMutablePointer<CChar>, Int) -> Void
    // Certificates (`X509`)
    let newCertificate: @convention(c) () -> Object?
    let freeCertificate: @convention(c) (Object?) -> Void
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
    let newExtension: @convention(c) (Object?, UnsafeRawPointer?, Int32, UnsafePointer<CChar>) -> Object?
    let addExtension: @convention(c) (Object?, Object?, Int32) -> Int32
    let freeExtension: @convention(c) (Object?) -> Void
    let sha256: @convention(c) () -> Object?
    let sign: @convention(c) (Object?, Object?, Object?) -> Int32
    let writeCertificate: @convention(c) (Object?, Object?) -> Int32
    // The settings of connections (`SSL_CTX`)
    let serverMethod: @convention(c) () -> Object?
    let newContext: @convention(c) (Object?) -> Object?
    let freeContext: @convention(c) (Object?) -> Void
    let control: @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
    let setOptions: @convention(c) (Object?, UInt64) -> UInt64
    let setTickets: @convention(c) (Object?, Int) -> Int32
    let useCertificate: @convention(c) (Object?, Object?) -> Int32
    let useKey: @convention(c) (Object?, Object?) -> Int32
    let setProtocolChoice: @convention(c) (Object?, ProtocolChoice?, UnsafeMutableRawPointer?) -> Void
    // Connections (`SSL`)
    let newConnection: @convention(c) (Object?) -> Object?
    let freeConnection: @convention(c) (Object?) -> Void
    let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void
    let setServer: @convention(c) (Object?) -> Void
    let isEstablished: @convention(c) (Object?) -> Int32
    let read: @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
    let write: @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
    let outcome: @convention(c) (Object?, Int32) -> Int32
    let shutDown: @convention(c) (Object?) -> Int32

    /// The library, or the reason why it cannot be loaded.
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
        // Apple's systems have none of these: loading their own libssl ends the process.
        try OpenSSL(firstOf: ["libssl.so.3", "libssl.so.1.1"])
    }

    init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        newKeyContext = try library.function("EVP_PKEY_CTX_new_id")
        freeKeyContext = try library.function("EVP_PKEY_CTX_free")
        beginKey = try library.function("EVP_PKEY_keygen_init")
        setKeyOption = try library.function("EVP_PKEY_CTX_ctrl_str")
        generateKey = try library.function("EVP_PKEY_keygen")
        freeKey = try library.function("EVP_PKEY_free")
        newBuffer = try library.function("BIO_new")
        inMemory = try library.function("BIO_s_mem")
        freeBuffer = try library.function("BIO_vfree")
        readBuffer = try library.function("BIO_read")
        writeBuffer = try library.function("BIO_write")
        getError = try library.function("ERR_get_error")
        clearErrors = try library.function("ERR_clear_error")
        describeError = try library.function("ERR_error_string_n")
        newCertificate = try library.function("X509_new")
        freeCertificate = try library.function("X509_free")
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
        newExtension = try library.function("X509V3_EXT_conf_nid")
        addExtension = try library.function("X509_add_ext")
        freeExtension = try library.function("X509_EXTENSION_free")
        sha256 = try library.function("EVP_sha256")
        sign = try library.function("X509_sign")
        writeCertificate = try library.function("PEM_write_bio_X509")
        serverMethod = try library.function("TLS_server_method")
        newContext = try library.function("SSL_CTX_new")
        freeContext = try library.function("SSL_CTX_free")
        control = try library.function("SSL_CTX_ctrl")
        setOptions = try library.function("SSL_CTX_set_options")
        setTickets = try library.function("SSL_CTX_set_num_tickets")
        useCertificate = try library.function("SSL_CTX_use_certificate")
        useKey = try library.function("SSL_CTX_use_PrivateKey")
        setProtocolChoice = try library.function("SSL_CTX_set_alpn_select_cb")
        newConnection = try library.function("SSL_new")
        freeConnection = try library.function("SSL_free")
        setBuffers = try library.function("SSL_set_bio")
        setServer = try library.function("SSL_set_accept_state")
        isEstablished = try library.function("SSL_is_init_finished")
        read = try library.function("SSL_read")
        write = try library.function("SSL_write")
        outcome = try library.function("SSL_get_error")
        shutDown = try library.function("SSL_shutdown")
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
}

extension OpenSSL {
    /// Returns this thread's oldest error, or 0 without one, and clears all errors.
    func takeError() -> UInt {
        defer { clearErrors() }
        return getError()
    }

    func failure(_ action: String) -> NetworkError {
        var text = [CChar](repeating: 0, count: 256)
        describeError(takeError(), &text, text.count)
        let words = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return NetworkError(.insecureConnection, reason: "MockServer: OpenSSL cannot \(action): \(words)")
    }

    /// Removes all bytes from a buffer and returns them.
    func readAll(from buffer: Object) -> Data {
        var all = Data()
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { piece in
            while true {
                let count = Int(readBuffer(buffer, piece.baseAddress, Int32(piece.count)))
                guard count > 0 else { return }
                all.append(contentsOf: UnsafeRawBufferPointer(rebasing: piece[..<count]))
            }
        }
        return all
    }
}
