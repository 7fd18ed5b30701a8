import SwitchboardPlatform
import Switchboard

#if canImport(Darwin)
/// Homebrew's, on either processor. The system's own libssl is not for others: loading it ends the process.
private let openSSLNames = ["opt/homebrew", "usr/local"].map { "/\($0)/opt/openssl@3/lib/libssl.3.dylib" }
#else
private let openSSLNames = ["libssl.so.3", "libssl.so.1.1"]
#endif

extension DynamicLibrary {
    /// Where the TLS half of OpenSSL may be, the best first. Its other half, libcrypto, comes with it.
    static var namesOfOpenSSL: [String] { openSSLNames }
}
