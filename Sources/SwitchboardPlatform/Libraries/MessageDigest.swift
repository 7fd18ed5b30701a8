import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// The hash functions of the system: CryptoKit on Apple's systems, and elsewhere OpenSSL's libcrypto, loaded at run
/// time. Foundation on Linux has none.
package enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// MD5 ([RFC 1321](https://www.rfc-editor.org/rfc/rfc1321)). Use it only for protocols that require it.
    case md5
    /// SHA-1 ([RFC 3174](https://www.rfc-editor.org/rfc/rfc3174)). Use it only for protocols that require it.
    case sha1
    /// SHA-256 ([FIPS 180-4](https://doi.org/10.6028/NIST.FIPS.180-4)).
    case sha256
    /// SHA-512/256 (FIPS 180-4). CryptoKit does not support it.
    case sha512Over256

    #if canImport(CryptoKit)
    /// Returns the hash of the data.
    package func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        switch self {
        case .md5: Data(Insecure.MD5.hash(data: data))
        case .sha1: Data(Insecure.SHA1.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha512Over256: throw DynamicLibrary.Failure(text: "CryptoKit has no SHA-512/256")
        }
    }
    #else
    /// Returns the hash of the data.
    package func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        try hash(data, by: LibCrypto.loaded)
    }

    /// Returns the hash of the data by a given library, or throws the reason why it is missing.
    package func hash(
        _ data: Data, by loaded: Result<LibCrypto, DynamicLibrary.Failure>
    ) throws(DynamicLibrary.Failure) -> Data {
        try loaded.get().hash(data, name)
    }

    /// The name of the function in OpenSSL.
    private var name: String {
        switch self {
        case .md5: "MD5"
        case .sha1: "SHA1"
        case .sha256: "SHA256"
        case .sha512Over256: "SHA512-256"
        }
    }
    #endif
}
