import Foundation
import Switchboard
import SwitchboardText

/// The directives of `Cache-Control` ([RFC 9111 §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)) that a
/// private cache evaluates, and those of its extensions RFC 5861 and RFC 8246.
struct CacheControl: Sendable {
    private(set) var isNoStore = false
    /// Whether `no-cache` covers the whole response.
    private(set) var isNoCache = false
    private(set) var isOnlyIfCached = false
    private(set) var mustRevalidate = false
    private(set) var mustUnderstand = false
    private(set) var isPublic = false
    private(set) var isPrivate = false
    private(set) var isImmutable = false
    /// The lifetime in seconds: the smallest of several values, and 0 for a value that is not a number ([RFC 9111
    /// §4.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.1)).
    private(set) var maxAge: Double?
    private(set) var staleIfError: Double?
    private(set) var staleWhileRevalidate: Double?
    private(set) var minFresh: Double?
    /// The accepted staleness in seconds. Infinite without a value.
    private(set) var maxStale: Double?
    /// The names, in lower case, of the fields that only a validated response may contain.
    private(set) var noCacheFields: Set<String> = []

    init(_ headers: HTTPHeaders) {
        for value in headers.values(for: "Cache-Control") {
            for part in value.splitOutsideQuotes(at: .comma) {
                let part = part.trimmedOfBlanks
                if let (name, value) = Self.directive(part) {
                    add(name, value)
                } else {
                    addMalformed(part)
                }
            }
        }
    }

    /// Adds a directive with a space around its `=`, an unclosed quote, or a `;` instead of a comma, which may hide
    /// another directive.
    private mutating func addMalformed(_ part: String) {
        let sides = part.pieces(between: .equals)
        add(sides[0].trimmedOfBlanks.lowercased(), sides.count > 1 ? "" : nil)
        let tokens = part.lowercased().utf8.split { !ASCIISet.token.contains($0) }
        for name in ["no-store", "no-cache"] where tokens.contains(where: { $0.elementsEqual(name.utf8) }) {
            add(name, nil)
        }
    }

    private mutating func add(_ name: String, _ value: String?) {
        switch name {
        case "no-store": isNoStore = true
        case "no-cache":
            let names = [value ?? ""].listMembers.map { $0.lowercased() }
            if names.isEmpty { isNoCache = true } else { noCacheFields.formUnion(names) }
        case "only-if-cached": isOnlyIfCached = true
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        // With field names, the directive is for shared caches only.
        case "private": isPrivate = true
        case "immutable": isImmutable = true
        case "max-age": maxAge = min(maxAge ?? .infinity, Self.seconds(value))
        case "min-fresh": minFresh = max(minFresh ?? 0, Self.seconds(value))
        case "max-stale": maxStale = min(maxStale ?? .infinity, value == nil ? .infinity : Self.seconds(value))
        case "stale-if-error": staleIfError = min(staleIfError ?? .infinity, Self.seconds(value))
        case "stale-while-revalidate":
            staleWhileRevalidate = min(staleWhileRevalidate ?? .infinity, Self.seconds(value))
        default: break
        }
    }

    /// Returns a number of seconds, or 0 for text that is not a number. A larger number than 2^31 becomes 2^31, which
    /// means forever ([RFC 9111 §1.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-1.2.2)).
    static func seconds(_ text: String?) -> Double {
        guard let text, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return 0 }
        return min(Double(text) ?? 0, longest)
    }

    /// 2^31, which counts as forever.
    static let longest = 2_147_483_648.0

    /// Reads a directive: a token, optionally with a token or a quoted string as its value ([RFC 9111
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)). The name is in lower case. Nil for other text.
    private static func directive(_ part: String) -> (name: String, value: String?)? {
        var scanner = FieldScanner(part)
        let name = scanner.text(while: ASCIISet.token.contains).lowercased()
        guard !name.isEmpty else { return nil }
        guard let byte = scanner.current else { return (name, nil) }
        guard byte == .equals else { return nil }
        scanner.advance()
        var value = scanner.text(while: ASCIISet.token.contains)
        var isValid = !value.isEmpty
        if scanner.current == .quote, !isValid { (value, isValid) = scanner.quotedString() }
        return isValid && scanner.current == nil ? (name, value) : nil
    }
}

extension CacheControl {
    /// The directives of a stored response as numbers, without the field names of `no-cache`, because those fields
    /// are not stored.
    var words: [UInt64] {
        let switches = [isNoStore, isNoCache, mustRevalidate, mustUnderstand, isPublic, isPrivate, isImmutable]
        let bits = switches.enumerated().reduce(UInt64(0)) { $0 | ($1.element ? 1 << UInt64($1.offset) : 0) }
        return [bits] + [maxAge, staleIfError, staleWhileRevalidate].map { ($0 ?? .nan).bitPattern }
    }

    /// Reads ``words``.
    init(_ reader: inout CacheHeadReader) {
        let bits = reader.number()
        isNoStore = bits & 1 != 0
        isNoCache = bits & 2 != 0
        mustRevalidate = bits & 4 != 0
        mustUnderstand = bits & 8 != 0
        isPublic = bits & 16 != 0
        isPrivate = bits & 32 != 0
        isImmutable = bits & 64 != 0
        maxAge = reader.seconds()
        staleIfError = reader.seconds()
        staleWhileRevalidate = reader.seconds()
    }
}
