import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardText

extension String {
    /// Returns whether the path matches by `path-match` of [RFC 6265
    /// §5.1.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.4).
    func pathMatches(_ cookiePath: String) -> Bool {
        guard utf8.starts(with: cookiePath.utf8) else { return false }
        return utf8.count == cookiePath.utf8.count || cookiePath.utf8.last == .slash
            || utf8.dropFirst(cookiePath.utf8.count).first == .slash
    }

    /// Returns whether the host matches by `domain-match` of [RFC 6265
    /// §5.1.3](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.3).
    func domainMatches(_ domain: String) -> Bool {
        hasBytes(of: domain) || isSubdomain(of: domain) && IPAddress(host: withoutRootDot) == nil
    }

    /// An IPv6 address without its brackets. Other text stays.
    var withoutAddressBrackets: String {
        guard utf8.first == .leftBracket, utf8.last == .rightBracket, utf8.contains(.colon) else { return self }
        return String(decoding: utf8.dropFirst().dropLast(), as: UTF8.self)
    }

    private func isSubdomain(of domain: String) -> Bool {
        guard utf8.count > domain.utf8.count else { return false }
        let rest = utf8.suffix(domain.utf8.count + 1)
        return rest.first == .dot && rest.dropFirst().elementsEqual(domain.utf8)
    }

    /// The name without the trailing dot of the root: `co.uk` for `co.uk.`.
    var withoutRootDot: String {
        guard utf8.last == .dot else { return self }
        return String(decoding: utf8.dropLast(), as: UTF8.self)
    }
}

extension StoredCookie {
    /// Creates the cookie that a server sets with this field, by [RFC 6265
    /// §5.3](https://www.rfc-editor.org/rfc/rfc6265#section-5.3). RFC 6265bis §5.7 adds the rules for `Secure`, for
    /// `SameSite=None` and for prefixes of names. Nil when the server may not set it.
    init?(_ field: SetCookie, from origin: CookieOrigin, now: Date, isPublicSuffix: (String) -> Bool) {
        let domain = field.domain ?? origin.host
        var isHostOnly = field.domain == nil
        if !isHostOnly {
            let name = domain.withoutRootDot
            if domain.hasBytes(of: origin.host) {
                // A host that is a public suffix or an address sets the cookie only for itself.
                isHostOnly = IPAddress(host: name) != nil || isPublicSuffix(name)
            } else if !origin.host.domainMatches(domain) || isPublicSuffix(name) {
                return nil
            }
        }
        guard origin.isSecure || !field.isSecure, field.isSecure || field.sameSite != SameSite.none else { return nil }
        let name = field.name.utf8
        if name.starts(withLowercase: "__secure-"), !field.isSecure { return nil }
        if name.starts(withLowercase: "__host-"), !(field.isSecure && field.path == "/" && isHostOnly) { return nil }
        var expires = field.expires
        if let age = field.maximumAge { expires = age > 0 ? now + TimeInterval(age) : .distantPast }
        expires = expires.map { min($0, now + Self.longestLifetime) }
        self.init(
            field.name, field.value, domain: domain, path: field.path ?? origin.defaultPath,
            includesSubdomains: !isHostOnly, expires: expires, isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly,
            sameSite: field.sameSite)
        // A file with such a cookie would not be read again.
        guard fault(isStored: true) == nil else { return nil }
    }

    /// 400 days in seconds, the limit of [RFC 6265bis
    /// §5.5](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.5).
    private static let longestLifetime: TimeInterval = 34_560_000

    /// Returns whether a request to this origin carries the cookie.
    func isSent(to origin: CookieOrigin) -> Bool {
        (isHostOnly ? origin.host.hasBytes(of: domain) : origin.host.domainMatches(domain))
            && origin.path.pathMatches(path)
            && (origin.isSecure || !isSecure)
    }

    /// Returns whether setting this cookie without TLS would hide a cookie that was set over TLS (RFC 6265bis §5.7,
    /// "leave secure cookies alone").
    func hides(_ other: StoredCookie) -> Bool {
        name.hasBytes(of: other.name) && other.isSecure && path.pathMatches(other.path)
            && (domain.domainMatches(other.domain) || other.domain.domainMatches(domain))
    }

    /// Returns the reason why a header field cannot carry the cookie, or nil. The path of a stored cookie may be that
    /// of a URL, which may contain a semicolon.
    func fault(isStored: Bool = false) -> String? {
        if name.isEmpty { return "has no name" }
        let parts = [
            ("name", name, ";="), ("value", value, ";"), ("domain", domain, ";/"), ("path", path, isStored ? "" : ";"),
        ]
        for (part, text, separators) in parts {
            let isWrong = text.utf8.contains { $0.breaksFieldValue || separators.utf8.contains($0) }
            guard !isWrong, text == text.trimmedOfBlanks else {
                return "has a \(part) that a field may not have"
            }
        }
        if domain.isEmpty { return "has no domain" }
        if !isStored, !domain.utf8.allSatisfy({ $0 < 0x80 }) {
            return "has a domain that is not ASCII: write it as URLs have it, such as xn--bcher-kva.example"
        }
        if domain.utf8.first == .dot {
            return "has a domain that begins with a dot: includesSubdomains sends it to the hosts below"
        }
        if !isStored, domain.utf8.contains(.colon), IPAddress(host: domain) == nil { return "has a domain with a port" }
        if path.utf8.first != .slash { return "has a path that does not begin with a slash" }
        if name.utf8.count + value.utf8.count > SetCookie.maximumSize { return "is larger than 4096 bytes" }
        return nil
    }
}

/// The parts of a URL that RFC 6265 compares with cookies.
struct CookieOrigin {
    /// The host in lower case, an IPv6 address without brackets.
    let host: String
    /// The path as sent, with its escapes. `/` when the URL has none.
    let path: String
    let isSecure: Bool
    /// The length in bytes with a trailing dot.
    private static let longestHost = 254

    /// Creates the origin of a URL. Nil for a URL without a host, or with a host longer than 254 bytes.
    init?(_ url: URL) {
        let parts = URLParts(url)
        let host = parts.host.lowercased().withoutAddressBrackets
        // Longer names cannot exist (RFC 1035 §2.3.4), and each of their labels would cost a lookup.
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else { return nil }
        self.host = host
        path = parts.path.utf8.first == .slash ? parts.path : "/"
        isSecure = url.isHTTPS
    }

    /// The `default-path` of [RFC 6265 §5.1.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.4): the path up to
    /// the last slash. Of a long path, only the part that a `Path` attribute could have counts.
    var defaultPath: String {
        let start = path.utf8.prefix(SetCookie.maximumAttribute + 1)
        guard let slash = start.lastIndex(of: .slash), slash > path.utf8.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
