import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Keeps cookies by [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265), and those of each environment apart.
///
/// ```swift
/// let jar = try CookieJar(contentsOf: file)                    // empty when there is no such file
/// let manager = NetworkManager(exchangeInterceptors: [CookieInterceptor(jar)])
/// try jar.save(to: file)                                       // those that outlive the session
/// ```
///
/// A server sets cookies for itself and for domains above it, never for a public suffix such as `co.uk`. The system's
/// libpsl supplies the suffixes. Where there is none, as on Apple's systems and Alpine, a domain of a single label is a
/// suffix, and the usual labels below a country's, such as `co.uk` and `com.au`. That rule does not know suffixes of
/// companies (`github.io`), nor those of three labels (`city.kawasaki.jp`). An IP address sets cookies for itself alone.
/// From RFC 6265bis come the prefixes `__Host-` and `__Secure-`, that a cookie set without TLS is never `Secure` and
/// never hides one that is, and that control characters are refused. `SameSite` is kept, for ``CookieInterceptor``.
public final class CookieJar: Sendable {
    struct State: Sendable {
        var shelves: [String?: CookieShelf] = [:]
        /// Where it was read from or saved to.
        var files: Set<URL> = []
    }

    /// How many cookies a domain may have; one more takes the place of that which was not used for longest. Default 180. It is
    /// also how many `Set-Cookie` fields of one response are looked at.
    public let maximumPerDomain: Int
    /// How many cookies there may be in each partition. Default 3,000.
    public let maximum: Int
    let now: @Sendable () -> Date
    private let isPublicSuffix: @Sendable (String) -> Bool
    let state = Protected(State())

    /// Makes an empty jar. `now` is asked whether cookies have expired.
    public convenience init(
        maximumPerDomain: Int = 180, maximum: Int = 3_000, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(
            maximumPerDomain: maximumPerDomain, maximum: maximum, now: now, isPublicSuffix: Self.isPublicSuffix)
    }

    package init(
        maximumPerDomain: Int = 180, maximum: Int = 3_000, now: @escaping @Sendable () -> Date,
        isPublicSuffix: @escaping @Sendable (String) -> Bool
    ) {
        self.maximumPerDomain = max(1, maximumPerDomain)
        self.maximum = max(1, maximum)
        self.now = now
        self.isPublicSuffix = isPublicSuffix
    }

    /// What the system says; without it, what its usual names say.
    package static func isPublicSuffix(_ domain: String) -> Bool {
        guard domain.utf8.contains(.dot) else { return true }
        guard case .success(let suffixes) = PublicSuffixes.loaded else { return UsualSuffixes.contains(domain) }
        return suffixes.contains(domain)
    }

    /// Whether the system's list of public suffixes is there.
    package static var knowsPublicSuffixes: Bool {
        if case .success = PublicSuffixes.loaded { true } else { false }
    }
}

// MARK: - What an exchange needs

extension CookieJar {
    /// Keeps what a server sets. What it may not set, and what is no cookie, is left out; and of one response all fields
    /// beyond the first ``maximumPerDomain``.
    ///
    /// - Parameters:
    ///   - fields: The values of `Set-Cookie`, one each.
    ///   - url: Where the response came from.
    ///   - partition: Which cookies, as in `RequestOptions.partition`.
    public func store(_ fields: [String], from url: URL, in partition: String? = nil) {
        guard !fields.isEmpty, let origin = CookieOrigin(url) else { return }
        let now = now()
        let cookies = fields.prefix(maximumPerDomain).compactMap { field in
            SetCookie(field).flatMap { StoredCookie($0, from: origin, now: now, isPublicSuffix: isPublicSuffix) }
        }
        state.withLock { state in
            var shelf = state.shelves.removeValue(forKey: partition) ?? CookieShelf()
            shelf.insert(
                origin.isSecure ? cookies : shelf.leavingSecureOnes(cookies), at: now,
                maximumPerDomain: maximumPerDomain, maximum: maximum)
            state.shelves[partition] = shelf
        }
    }

    /// The cookies that a request to a URL carries, in the order in which they are sent.
    public func cookies(for url: URL, in partition: String? = nil) -> [StoredCookie] {
        guard state.withLock({ $0.shelves[partition] != nil }), let origin = CookieOrigin(url) else { return [] }
        let now = now()
        return state.withLock { $0.shelves[partition]?.cookies(for: origin, at: now) ?? [] }
    }
}

// MARK: - What an app asks

extension CookieJar {
    /// All cookies that have not expired, in the order in which they came.
    public func cookies(in partition: String? = nil) -> [StoredCookie] {
        let now = now()
        return state.withLock { $0.shelves[partition]?.cookies(at: now) ?? [] }
    }

    /// Puts a cookie of the app's own into the jar, in the place of one with the same name, domain and path.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` for one that could not be sent: with a semicolon or a control
    ///   character, without name or domain, or larger than 4,096 bytes.
    public func set(_ cookie: StoredCookie, in partition: String? = nil) throws(NetworkError) {
        if let fault = cookie.fault {
            throw NetworkError(.invalidRequest, reason: "the cookie \(cookie.name.quotedForMessage) \(fault)")
        }
        let now = now()
        state.withLock { state in
            state.shelves[partition, default: CookieShelf()]
                .insert([cookie], at: now, maximumPerDomain: maximumPerDomain, maximum: maximum)
        }
    }

    /// Forgets the cookies of a partition that a closure picks; without one, all of them.
    public func remove(in partition: String? = nil, where isRemoved: (StoredCookie) -> Bool = { _ in true }) {
        // Foreign code may not run under the lock.
        let removed = Set(cookies(in: partition).filter(isRemoved))
        state.withLock { $0.shelves[partition]?.removeAll(where: removed.contains) }
    }
}

extension CookieJar: Resettable {
    /// Forgets the cookies of every partition, and removes the files it was read from and saved to.
    public func reset() {
        let files = state.swap(State()).files
        for file in files { try? FileManager.default.removeItem(at: file) }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// How many cookies there are. Never a value.
    public var description: String {
        "CookieJar of \(state.withLock { $0.shelves.values.reduce(0) { $0 + $1.count } }) cookies"
    }

    /// Shows the description only, so that `dump` prints no value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
