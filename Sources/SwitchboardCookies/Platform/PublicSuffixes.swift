import Switchboard
import SwitchboardPlatform

#if canImport(Darwin)
private let libraryNames = ["/opt/homebrew/lib/libpsl.5.dylib", "/usr/local/lib/libpsl.5.dylib"]
#else
private let libraryNames = ["libpsl.so.5"]
#endif

/// The system's libpsl: which domains are suffixes under which anybody may register, such as `com`, `co.uk` and
/// `github.io` ([the list](https://publicsuffix.org)).
///
/// It has no headers here: the functions are looked up by name. On Linux libcurl mostly brings it along.
struct PublicSuffixes: @unchecked Sendable {  // a pointer to a list that is made once and never changed
    private typealias MakeList = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
    private typealias BuiltIn = @convention(c) () -> OpaquePointer?
    private typealias IsSuffix = @convention(c) (OpaquePointer?, UnsafePointer<CChar>) -> CInt

    private let list: OpaquePointer
    private let isSuffix: IsSuffix

    /// The library, or what is missing.
    static let loaded = Result { () throws(DynamicLibrary.Failure) in
        try PublicSuffixes(firstOf: libraryNames)
    }

    init(firstOf names: [String]) throws(DynamicLibrary.Failure) {
        let library = try DynamicLibrary(firstOf: names)
        let makeList: MakeList = try library.function("psl_latest")
        let builtIn: BuiltIn = try library.function("psl_builtin")
        // The system's file when it is newer than what the library was built with.
        guard let list = makeList(nil) ?? builtIn() else {
            throw DynamicLibrary.Failure(text: "libpsl has no list of public suffixes")
        }
        self.list = list
        isSuffix = try library.function("psl_is_public_suffix")
    }

    /// Whether anybody may register names under a domain, given in lower case. A last label that is not on the list is
    /// one.
    func contains(_ domain: String) -> Bool {
        isSuffix(list, domain) != 0
    }
}
