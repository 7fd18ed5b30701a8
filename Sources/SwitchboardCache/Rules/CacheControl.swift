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
            for part in value.splitOutsideQuotes(at: ",") {
                let part = part.trimmed
                let (name, value) = Self.directive(part)
                add(name, value)
                for name in Self.hidden(in: part) { add(name, nil) }
            }
        }
    }

    private mutating func add(_ name: String, _ value: String?) {
        switch name {
        case "no-store": isNoStore = true
        case "no-cache":
            let names = (value ?? "").split(separator: ",").map {
                $0.trimmingCharacters(in: .whitespaces).lowercased()
            }
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
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return 0 }
        return min(Double(text) ?? 0, 2_147_483_648)
    }

    /// Reads a directive: the name in lower case, the value without quotes. A value next to a space is invalid, and
    /// becomes empty.
    private static func directive(_ part: String) -> (name: String, value: String?) {
        guard let equals = part.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (part.lowercased(), nil) }
        let (name, value) = (part[..<equals], part[part.index(after: equals)...])
        guard name.trimmed == name, value.trimmed == value else { return (name.trimmed.lowercased(), "") }
        let isQuoted = value.utf8.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
        return (name.lowercased(), isQuoted ? unescaped(value.dropFirst().dropLast()) : String(value))
    }

    /// Returns the text with each quoted pair replaced by its second character ([RFC 9110
    /// §5.6.4](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.4)).
    private static func unescaped(_ text: Substring) -> String {
        var isEscaped = false
        return String(
            text.filter {
                isEscaped = !isEscaped && $0 == "\\"
                return !isEscaped
            })
    }
}

extension CacheControl {
    /// The directives of a stored response as numbers, without those that only storing evaluates.
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

extension StringProtocol {
    /// The text without white space at its ends.
    var trimmed: String {
        // Most texts have none, and Foundation's function is slow.
        let isTrimmed = utf8.withContiguousStorageIfAvailable { bytes in
            guard let first = bytes.first, let last = bytes.last else { return true }
            return 0x21...0x7E ~= first && 0x21...0x7E ~= last
        }
        return isTrimmed ?? false ? String(self) : trimmingCharacters(in: .whitespaces)
    }

    /// Returns the parts between separators that are not within quotes, without empty ones.
    func splitOutsideQuotes(at separator: Character) -> [SubSequence] {
        var isQuoted = false
        var isEscaped = false
        return split { character in
            defer { isEscaped = isQuoted && !isEscaped && character == "\\" }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == separator && !isQuoted
        }
    }
}

/// Malformed directives. An unclosed quote, or a `;` instead of a comma, may hide a directive.
extension CacheControl {
    private static let tokenBytes = ASCIISet.alphanumerics.union(ASCIISet("!#$%&'*+-.^_`|~"))

    /// Returns `no-store` and `no-cache` if their names are in a malformed directive.
    static func hidden(in directive: String) -> [String] {
        guard !isWellFormed(directive.utf8) else { return [] }
        let tokens = directive.lowercased().utf8.split { !tokenBytes.contains($0) }
        return ["no-store", "no-cache"].filter { name in tokens.contains { $0.elementsEqual(name.utf8) } }
    }

    /// Returns whether a directive is a token, optionally with a token or a quoted string as its value ([RFC 9111
    /// §5.2](https://www.rfc-editor.org/rfc/rfc9111#section-5.2)).
    private static func isWellFormed(_ directive: String.UTF8View) -> Bool {
        let equals = directive.firstIndex(of: UInt8(ascii: "=")) ?? directive.endIndex
        guard isToken(directive[..<equals]) else { return false }
        let value = directive[equals...].dropFirst()
        return equals == directive.endIndex || isToken(value) || isQuoted(value)
    }

    private static func isToken(_ text: Substring.UTF8View) -> Bool {
        !text.isEmpty && text.allSatisfy(tokenBytes.contains)
    }

    private static func isQuoted(_ text: Substring.UTF8View) -> Bool {
        guard text.count > 1, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return false }
        var isEscaped = false
        for byte in text.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\""), !isEscaped { return false }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return !isEscaped
    }
}
