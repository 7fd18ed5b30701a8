import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The public suffixes that can be told by their form, for systems without a list: a single label, and a usual label below
/// a country's of two letters, as in `co.uk`.
///
/// It knows neither the suffixes of companies (`github.io`) nor those of three labels (`city.kawasaki.jp`), and takes the few
/// names for suffixes that somebody registered below such a country himself (`co.de`).
enum UsualSuffixes {
    private static let labels: Set<String> = [
        "ac", "asn", "co", "com", "ed", "edu", "gen", "go", "gob", "gouv", "gov", "govt", "gub", "idv", "lg", "ltd",
        "mil",
        "ne", "net", "nhs", "nom", "or", "org", "plc", "sch",
    ]

    /// Whether a name, in lower case and without a dot at its ends, is one.
    static func contains(_ domain: String) -> Bool {
        let parts = domain.pieces(between: .dot)
        switch parts.count {
        case 1: return true
        case 2: return parts[1].utf8.count == 2 && labels.contains(String(parts[0]))
        default: return false
        }
    }
}
