import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The public suffixes that follow from the form of a name, for systems without a list: a single label, or a usual
/// label below a country's two letters, as in `co.uk`.
///
/// The rule misses suffixes of three labels (`city.kawasaki.jp`). It also takes a few registered names for suffixes
/// (`co.de`).
enum UsualSuffixes {
    /// Domains of companies below which each customer has a name. Lists of older systems lack some of them, and a few are
    /// in no list.
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
        "mil",
        "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
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
