import Switchboard
import SwitchboardPlatform
import Foundation

/// A cookie as a jar keeps it ([RFC 6265 §5.3](https://www.rfc-editor.org/rfc/rfc6265#section-5.3)).
public struct StoredCookie: Sendable, Hashable {
    /// The name, with case.
    public let name: String
    /// The value, quotes included if it has any.
    public let value: String
    /// The host, or the domain with all of its hosts; in lower case, without a dot before it.
    public let domain: String
    /// The path under which it is sent: this one and those below it.
    public let path: String
    /// Whether it goes to ``domain`` alone, and not to the hosts below it.
    public let isHostOnly: Bool
    /// When it ends. Nil for the end of the session: it is not saved, unless asked for.
    public let expires: Date?
    /// Whether it goes over https alone.
    public let isSecure: Bool
    /// Whether scripts of a page may not see it. There are none here: kept, for those who hand cookies to a web view.
    public let isHTTPOnly: Bool
    /// What browsers do with it across sites. ``CookieInterceptor`` does it where a server led a request.
    public let sameSite: SameSite?

    /// When a browser sends a cookie with a request that another site caused.
    public enum SameSite: String, Sendable, Codable {
        /// Never.
        case strict
        /// When a person follows a link.
        case lax
        /// Always.
        case none
    }

    /// Makes a cookie of your own; ``CookieJar/set(_:in:)`` puts it into a jar.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    ///   - domain: The host.
    ///   - path: The path under which it is sent. Default all.
    ///   - includesSubdomains: Whether the hosts below the domain get it too. Default false.
    ///   - expires: When it ends. Nil, the default, for the end of the session.
    ///   - isSecure: Whether it goes over https alone. Default true.
    ///   - isHTTPOnly: Whether scripts of a page may not see it. Default false.
    ///   - sameSite: Whether it goes where another site led. Default nil, which counts as lax.
    public init(
        _ name: String, _ value: String, domain: String, path: String = "/", includesSubdomains: Bool = false,
        expires: Date? = nil, isSecure: Bool = true, isHTTPOnly: Bool = false, sameSite: SameSite? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = domain.lowercased()
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

extension StoredCookie: CustomStringConvertible, CustomReflectable {
    /// Name, domain and path. Never the value.
    public var description: String { "\(name)=\(Redaction.standard.mask) (\(isHostOnly ? "" : "*.")\(domain)\(path))" }

    /// Shows the description only, so that `dump` prints no value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
