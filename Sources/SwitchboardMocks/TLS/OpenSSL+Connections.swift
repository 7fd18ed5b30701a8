import SwitchboardPlatform
import Switchboard

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
        let nameClientAuthority: @convention(c) (Object?, Object?) -> Int32
        // SSL
        let new: @convention(c) (Object?) -> Object?
        let free: @convention(c) (Object?) -> Void
        let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void
        let beServer: @convention(c) (Object?) -> Void
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
            nameClientAuthority = try library.function("SSL_CTX_add_client_CA")
            new = try library.function("SSL_new")
            free = try library.function("SSL_free")
            setBuffers = try library.function("SSL_set_bio")
            beServer = try library.function("SSL_set_accept_state")
            isEstablished = try library.function("SSL_is_init_finished")
            read = try library.function("SSL_read")
            write = try library.function("SSL_write")
            outcome = try library.function("SSL_get_error")
            shutDown = try library.function("SSL_shutdown")
        }
    }
}
