import SwitchboardPlatform
import Switchboard

#if canImport(Darwin)
/// Homebrew's paths, for both processors. Apps must not load the system's libssl: loading it ends the process.
private let openSSLNames = ["opt/homebrew", "usr/local"].map { "/\($0)/opt/openssl@3/lib/libssl.3.dylib" }
#else
private let openSSLNames = ["libssl.so.3", "libssl.so.1.1"]
#endif

extension DynamicLibrary {
    /// The candidates for OpenSSL's libssl, best first. Loading it loads libcrypto too.
    static var namesOfOpenSSL: [String] { openSSLNames }
}
