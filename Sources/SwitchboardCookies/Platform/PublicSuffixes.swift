import Switchboard
import SwitchboardPlatform

#if canImport(Darwin)
/// None: the system has no libpsl, and other processes of the user can write the folders of Homebrew.
private let libraryNames: [String] = []
#else
private let libraryNames = ["libpsl.so.5"]
#endif

/// The public suffixes of the system's libpsl: domains below which anyone may register, such as `com`, `co.uk` and
/// `github.io` ([the list](https://publicsuffix.org)).
///
/// The functions are looked up by name, because libpsl's headers are not available. Most Linux systems install libpsl
/// together with libcurl.
struct PublicSuffixes: @unchecked Sendable {  // points to a list that never changes after its creation
    private typealias MakeList = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
    private typealias BuiltIn = @convention(c) () -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> CInt

    private let list: OpaquePointer
    private let isSuffix: IsSuffix

    /// The library, or the reason why it is not available.
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
        try PublicSuffixes(firstOf: libraryNames)
    }

    init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        let makeList: MakeList = try library.function("psl_latest")
        let builtIn: BuiltIn = try library.function("psl_builtin")
        // Prefers the system's file when it is newer than the list built into the library.
        guard let list = makeList(nil) ?? builtIn() else {
            throw DynamicLibrary.Failure(text: "libpsl has no list of public suffixes")
        }
        self.list = list
        isSuffix = try library.function("psl_is_public_suffix")
    }

    /// Returns whether a domain, given in lower case, is a public suffix. A single label that is not on the list counts
    /// as one.
    func contains(_ domain: String) -> Bool {
        isSuffix(list, domain) != 0
    }
}
