import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

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

/// A rule for public suffixes on systems without libpsl: a single label, or a common label below a country's two
/// letters, as in `co.uk`.
///
/// The rule misses suffixes of three labels (`chiyoda.tokyo.jp`). A few registered names count as suffixes (`co.de`).
enum BuiltInSuffixes {
    /// Domains of hosting companies, with a name below them for each customer. Old lists lack some of them, and no list
    /// has the others.
    static let hosts = Set(
        """
        amplifyapp.com appspot.com azurestaticapps.net azurewebsites.net blob.core.windows.net blogspot.com \
        cloudapp.net cloudfront.net deno.dev elasticbeanstalk.com firebaseapp.com fly.dev \
        github.io githubusercontent.com gitlab.io glitch.me googleapis.com herokuapp.com myshopify.com netlify.app \
        ngrok.io ngrok-free.app now.sh onrender.com pages.dev r2.dev railway.app repl.co replit.app run.app \
        s3.amazonaws.com storage.googleapis.com surge.sh translate.goog trycloudflare.com vercel.app web.app \
        wixsite.com wordpress.com workers.dev
        """.split(separator: " ").map(String.init))

    private static let labels: Set<String> = [
        "ac", "asn", "co", "com", "ed", "edu", "gen", "go", "gob", "gouv", "gov", "govt", "gub", "idv", "lg", "ltd",
        "mil", "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
    ]

    /// Returns whether a name, in lower case and without a dot at either end, is a public suffix.
    static func contains(_ domain: String) -> Bool {
        let parts = domain.pieces(between: .dot)
        switch parts.count {
        case 1: return true
        case 2: return parts[1].utf8.count == 2 && labels.contains(String(parts[0]))
        default: return false
        }
    }
}
