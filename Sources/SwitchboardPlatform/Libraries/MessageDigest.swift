import Foundation

#if canImport(Darwin)
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

    #if canImport(Darwin)
    package func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        switch self {
        case .md5: Data(Insecure.MD5.hash(data: data))
        case .sha1: Data(Insecure.SHA1.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha512Over256: throw DynamicLibrary.Failure(text: "CryptoKit has no SHA-512/256")
        }
    }
    #else
    /// Returns the hash of the data by a library, or throws the reason why it is missing.
    package func hash(
        _ data: Data, by library: Result<LibCrypto, DynamicLibrary.Failure> = LibCrypto.loaded
    ) throws(DynamicLibrary.Failure) -> Data {
        try library.get().hash(data, name)
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

#if !canImport(Darwin)
/// The hash functions of OpenSSL 1.1.1 or 3 ([manual](https://docs.openssl.org/3.0/man3/EVP_DigestInit/)).
package struct LibCrypto: @unchecked Sendable {  // pointers to functions, which never change
    package static let loaded = Result { () throws(DynamicLibrary.Failure) in
        try LibCrypto(firstOf: ["libcrypto.so.3", "libcrypto.so.1.1"])
    }

    private let digestByName: @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    private let digest:
        @convention(c) (
            UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CUnsignedInt>, OpaquePointer,
            OpaquePointer?
        ) -> CInt

    package init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        digestByName = try library.function("EVP_get_digestbyname")
        digest = try library.function("EVP_Digest")
    }

    func hash(_ data: Data, _ name: String) throws(DynamicLibrary.Failure) -> Data {
        guard let type = digestByName(name) else {
            throw DynamicLibrary.Failure(text: "libcrypto has no \(name)")
        }
        var output = [UInt8](repeating: 0, count: 64)  // EVP_MAX_MD_SIZE
        var count: CUnsignedInt = 0
        let code = data.withUnsafeBytes { digest($0.baseAddress, $0.count, &output, &count, type, nil) }
        // The system's policy may forbid a hash function, as FIPS forbids MD5.
        guard code == 1 else { throw DynamicLibrary.Failure(text: "libcrypto refuses to compute \(name)") }
        return Data(output.prefix(Int(count)))
    }
}
#endif
