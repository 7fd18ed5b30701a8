#if !canImport(CryptoKit)
import Foundation

/// The hash functions of OpenSSL 1.1.1 or 3 ([manual](https://docs.openssl.org/3.0/man3/EVP_DigestInit/)).
package struct LibCrypto: @unchecked Sendable {  // pointers to functions, which never change
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
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
