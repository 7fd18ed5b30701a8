import Switchboard
import SwitchboardPlatform
import Foundation

/// A cookie in a ``CookieJar`` ([RFC 6265 §5.3](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)).
public struct StoredCookie: Sendable, Hashable {
    /// The name, case-sensitive.
    public let name: String
    /// The value, including quotes if it has any.
    public let value: String
    /// The host, or the domain with all hosts below it, in lower case and without a leading dot or brackets.
    public let domain: String
    /// The path that receives the cookie, together with all paths below it.
    public let path: String
    /// Whether the cookie is sent only to ``domain`` and not to hosts below it.
    public let isHostOnly: Bool
    /// The expiry date. Nil for a cookie that ends with the session: by default, it is not saved to a file.
    public let expires: Date?
    /// Whether the cookie is sent only over https.
    public let isSecure: Bool
    /// Whether scripts of a web page must not read the cookie. The library runs no scripts; apps that copy cookies to a
    /// web view need the flag.
    public let isHTTPOnly: Bool
    /// The `SameSite` attribute, or nil without one. ``CookieInterceptor`` applies it to requests that another site
    /// caused.
    public let sameSite: SameSite?

    /// The rule for sending a cookie with a request that another site caused.
    public enum SameSite: String, Sendable, Codable {
        /// The cookie is never sent.
        case strict
        /// The cookie is sent when a person follows a link.
        case lax
        /// The cookie is always sent.
        case none
    }

    /// Creates a cookie. ``CookieJar/set(_:in:)`` stores it in a jar.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - domain: The host, an IPv6 address with or without brackets.
    ///   - path: The path that receives the cookie. Default all paths.
    ///   - includesSubdomains: True to send it to hosts below the domain too. Default false.
    ///   - expires: The expiry date. Nil, the default, ends it with the session.
    ///   - isSecure: True to send it only over https. Default true.
    ///   - isHTTPOnly: True if scripts of a web page must not read it. Default false.
    ///   - sameSite: The rule for requests that another site caused. Nil, the default, counts as lax.
    public init(
        _ name: String, _ value: String, domain: String, path: String = "/", includesSubdomains: Bool = false,
        expires: Date? = nil, isSecure: Bool = true, isHTTPOnly: Bool = false, sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain.lowercased().withoutAddressBrackets
        self.path = path
        isHostOnly = !includesSubdomains
        self.expires = expires
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
    }

    func isExpired(at now: Date) -> Bool {
        expires.map { $0 <= now } ?? false
    }
}

extension StoredCookie: DumpedAsDescription {
    /// Name, domain and path, without the value.
    public var description: String { "\(name)=\(Redaction.standard.mask) (\(isHostOnly ? "" : "*.")\(domain)\(path))" }
}
