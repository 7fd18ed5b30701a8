#if canImport(Darwin)
import Darwin

/// Homebrew's, on either processor. The system's own libssl is not for others: loading it ends the process.
private let openSSLNames = ["opt/homebrew", "usr/local"].map { "/\($0)/opt/openssl@3/lib/libssl.3.dylib" }
#else
#if canImport(Musl)
import Musl
#else
import Glibc
#endif

private let openSSLNames = ["libssl.so.3", "libssl.so.1.1"]
#endif

/// A library of the system, loaded at run time, for good.
struct DynamicLibrary {
    /// What is missing.
    struct Failure: Error {
        let text: String
    }

    /// Where the TLS half of OpenSSL may be, the best first. Its other half, libcrypto, comes with it.
    static var namesOfOpenSSL: [String] { openSSLNames }

    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads the first of these that is there.
    init(firstOf names: [String]) throws(Failure) {
        for name in names {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            (self.handle, self.name) = (handle, name)
            return
        }
        throw Failure(text: "\(names.first ?? "a library without a name") was not found")
    }

    /// A function of the library, or of one that it has brought along. `Function` is its type, as `@convention(c)`.
    func function<Function>(_ symbol: String) throws(Failure) -> Function {
        guard let address = dlsym(handle, symbol) else {
            throw Failure(text: "\(name) has no \(symbol)")
        }
        return unsafeBitCast(address, to: Function.self)
    }
}
