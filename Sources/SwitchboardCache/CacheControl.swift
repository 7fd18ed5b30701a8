import Foundation
import Switchboard

/// The directives of `Cache-Control` ([RFC 9111 §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)) that a
/// private cache evaluates.
struct CacheControl {
    private(set) var isNoStore = false
    private(set) var isNoCache = false
    private(set) var isOnlyIfCached = false
    private(set) var mustRevalidate = false
    /// The lifetime in seconds: the smallest of several values, and 0 for a value that is not a number ([RFC 9111
    /// §4.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1)).
    private(set) var maxAge: Double?
    private(set) var staleIfError: Double?
    private(set) var minFresh: Double?

    init(_ headers: HTTPHeaders) {
        for value in headers.values(for: "Cache-Control") {
            for directive in Self.directives(of: value) { add(directive.name, directive.value) }
        }
    }

    private mutating func add(_ name: String, _ value: String?) {
        switch name {
        case "no-store": isNoStore = true
        // With field names, the directive covers only these fields. A cache may apply it to the whole response.
        case "no-cache": isNoCache = true
        case "only-if-cached": isOnlyIfCached = true
        case "must-revalidate": mustRevalidate = true
        case "max-age": maxAge = min(maxAge ?? .infinity, Self.seconds(value))
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(value))
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, Self.seconds(value))
        default: break
        }
    }

    /// Returns a number of seconds, or 0 for text that is not a number. A larger number than 2^31 becomes 2^31, which
    /// means forever ([RFC 9111 §1.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2)).
    static func seconds(_ text: String?) -> Double {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return 0 }
        return min(Double(text) ?? 0, 2_147_483_648)
    }

    /// Splits a field value into directives: names in lower case, values without quotes. A comma within quotes does not
    /// separate directives.
    private static func directives(of text: String) -> [(name: String, value: String?)] {
        var parts: [String] = []
        var part = ""
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                parts.append(part)
                part = ""
            } else {
                part.append(character)
            }
        }
        parts.append(part)
        return parts.map { part in
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let value = pair.count == 2 ? pair[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"")) : nil
            return ((pair.first ?? "").lowercased(), value)
        }
    }
}
