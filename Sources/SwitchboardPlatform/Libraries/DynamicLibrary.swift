#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
#error("Switchboard needs a POSIX system: an Apple platform, Linux or Android")
#endif

#if canImport(Musl)
// Swift links programs over musl statically.
private let reason = "cannot be loaded, because this program is linked statically"
#else
private let reason = "was not found"
#endif

/// A library of the system, loaded at run time and never unloaded.
package struct DynamicLibrary {
    /// The reason why a library cannot be used, or why it refuses bytes.
    package struct Failure: Error {
        package let text: String

        package init(text: String) {
            self.text = text
        }
    }

    private let handle: UnsafeMutableRawPointer
    private let name: String

    /// Loads the first of these libraries that exists.
    package init(firstOf names: [String]) throws(Failure) {
        for name in names {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { continue }
            (self.handle, self.name) = (handle, name)
            return
        }
        throw Failure(text: names.first.map { "\($0) \(reason)" } ?? "this system has none")
    }

    /// Returns a function of the library or of one of its dependencies. `Function` is the function's type, declared
    /// `@convention(c)`.
    package func function<Function>(_ symbol: String) throws(Failure) -> Function {
        guard let address = dlsym(handle, symbol) else {
            throw Failure(text: "\(name) has no \(symbol)")
        }
        return unsafeBitCast(address, to: Function.self)
    }
}
