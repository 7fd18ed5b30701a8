import SwitchboardPlatform
import Switchboard

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
