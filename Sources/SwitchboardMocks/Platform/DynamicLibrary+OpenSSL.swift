import SwitchboardPlatform
import Switchboard

#if canImport(Darwin)
/// None: loading the system's libssl ends the process, and other processes of the user can write the folders of
/// Homebrew.
private let openSSLNames: [String] = []
#else
private let openSSLNames = ["libssl.so.3", "libssl.so.1.1"]
#endif

extension DynamicLibrary {
    /// The candidates for OpenSSL's libssl, best first. Loading it loads libcrypto too. Empty on Apple's
    /// systems.
    static var namesOfOpenSSL: [String] { openSSLNames }
}
