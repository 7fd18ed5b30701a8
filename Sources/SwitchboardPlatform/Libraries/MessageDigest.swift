import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// Hash functions of the system: CryptoKit on Apple's, OpenSSL's libcrypto elsewhere, loaded at run time. Foundation on Linux
/// has none.
package enum MessageDigest: Sendable, Hashable, CaseIterable {
    /// [RFC 1321](https://www.rfc-editor.org/rfc/rfc1321). Only for what still asks for it.
    case md5
    /// [FIPS 180-4](https://doi.org/10.6028/NIST.FIPS.180-4)
    case sha256
    /// SHA-512/256 of FIPS 180-4. CryptoKit has none.
    case sha512Over256

    #if canImport(CryptoKit)
    /// The hash of some bytes.
    package func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        switch self {
        case .md5: Data(Insecure.MD5.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha512Over256: throw DynamicLibrary.Failure(text: "CryptoKit has no SHA-512/256")
        }
    }
    #else
    /// The hash of some bytes.
    package func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        try hash(data, by: LibCrypto.loaded)
    }

    /// The same by a library that was looked for, or by what is missing.
    package func hash(
        _ data: Data, by loaded: Result<LibCrypto, DynamicLibrary.Failure>
    ) throws(DynamicLibrary.Failure) -> Data {
        try loaded.get().hash(data, name)
    }

    /// As OpenSSL calls it.
    private var name: String {
        switch self {
        case .md5: "MD5"
        case .sha256: "SHA256"
        case .sha512Over256: "SHA512-256"
        }
    }
    #endif
}
