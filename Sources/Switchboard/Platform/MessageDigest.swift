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
    func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        switch self {
        case .md5: Data(Insecure.MD5.hash(data: data))
        case .sha256: Data(SHA256.hash(data: data))
        case .sha512Over256: throw DynamicLibrary.Failure(text: "CryptoKit has no SHA-512/256")
        }
    }
    #else
    /// The hash of some bytes.
    func hash(_ data: Data) throws(DynamicLibrary.Failure) -> Data {
        try hash(data, by: LibCrypto.loaded)
    }

    /// The same by a library that was looked for, or by what is missing.
    func hash(
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

#if !canImport(CryptoKit)
/// The hash functions of OpenSSL, 1.1.1 or 3 ([manual](https://docs.openssl.org/3.0/man3/EVP_DigestInit/)).
struct LibCrypto: @unchecked Sendable {  // pointers to functions, which nobody changes
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
        try LibCrypto(firstOf: ["libcrypto.so.3", "libcrypto.so.1.1"])
    }

    private let digestByName: @convention(c) (UnsafePointer<CChar>) -> OpaquePointer?
    private let digest:
        @convention(c) (
            UnsafeRawPointer?, Int, UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<CUnsignedInt>, OpaquePointer,
            OpaquePointer?
        ) -> CInt

    init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
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
        // Where rules of the system forbid it, as FIPS does MD5.
        guard code == 1 else { throw DynamicLibrary.Failure(text: "libcrypto refuses to compute \(name)") }
        return Data(output.prefix(Int(count)))
    }
}
#endif
