import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Stores cookies by the rules of [RFC 6265](https://www.rfc-editor.org/rfc/rfc6265), separately for each environment.
///
/// ```swift
/// // Empty when the file does not exist.
/// let jar = try CookieJar(contentsOf: file)
/// let manager = NetworkManager(
///     exchangeInterceptors: [CookieInterceptor(jar)])
/// // Saves the cookies that outlive the session.
/// try jar.save(to: file)
/// ```
///
/// A server may set cookies for itself and for domains above it, but not for a public suffix such as `co.uk`. The
/// system's libpsl supplies the public suffixes. Without libpsl, as on Apple's systems and Alpine, two rules replace
/// it: every single label is a suffix, and so are the usual labels below a country's, such as `co.uk` and `com.au`.
/// These rules miss suffixes of companies (`github.io`) and suffixes of three labels (`city.kawasaki.jp`). An IP
/// address may set cookies only for itself.
///
/// RFC 6265bis adds the name prefixes `__Host-` and `__Secure-`. A cookie set without TLS is never `Secure` and never
/// hides a `Secure` one. Cookies with control characters are rejected. ``CookieInterceptor`` applies the stored
/// `SameSite`.
public final class CookieJar: Sendable {
    struct State: Sendable {
        var stores: [String?: CookieStore] = [:]
        /// The files that the jar was read from or saved to.
        var files: Set<URL> = []
    }

    /// The maximum number of cookies per domain, and of `Set-Cookie` fields that are read from one response. Above it,
    /// the jar removes expired cookies, then those that are not `Secure`, then the least recently used. Default 180.
    public let maximumPerDomain: Int
    /// The maximum number of cookies per partition. Default 3,000.
    public let maximum: Int
    let now: @Sendable () -> Date
    private let isPublicSuffix: @Sendable (String) -> Bool
    let state = Protected(State())

    /// Creates an empty jar. `now` returns the current time, which decides whether a cookie has expired.
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

    /// Returns whether a domain is a public suffix, by the system's list, or by ``UsualSuffixes`` without one.
    package static func isPublicSuffix(_ domain: String) -> Bool {
        guard domain.utf8.contains(.dot) else { return true }
        guard case .success(let suffixes) = PublicSuffixes.loaded else { return UsualSuffixes.contains(domain) }
        return suffixes.contains(domain)
    }

    /// Whether the system's list of public suffixes is available.
    package static var knowsPublicSuffixes: Bool {
        if case .success = PublicSuffixes.loaded { true } else { false }
    }
}

// MARK: - Exchanges

extension CookieJar {
    /// Stores the cookies that a server sets. It ignores invalid cookies, cookies that the server may not set, and all
    /// fields of a response beyond the first ``maximumPerDomain``.
    ///
    /// - Parameters:
    ///   - fields: The values of `Set-Cookie`, one per field.
    ///   - url: The URL that sent the response.
    ///   - partition: The partition to store them in, as in `RequestOptions.partition`.
    public func store(_ fields: [String], from url: URL, in partition: String? = nil) {
        guard !fields.isEmpty, let origin = CookieOrigin(url) else { return }
        let now = now()
        let cookies = fields.prefix(maximumPerDomain).compactMap { field in
            SetCookie(field).flatMap { StoredCookie($0, from: origin, now: now, isPublicSuffix: isPublicSuffix) }
        }
        state.withLock { state in
            var store = state.stores.removeValue(forKey: partition) ?? CookieStore()
            store.insert(
                origin.isSecure ? cookies : store.leavingSecureOnes(cookies), at: now,
                maximumPerDomain: maximumPerDomain, maximum: maximum)
            state.stores[partition] = store
        }
    }

    /// Returns the cookies for a request to a URL, in the order in which they are sent.
    public func cookies(for url: URL, in partition: String? = nil) -> [StoredCookie] {
        guard state.withLock({ $0.stores[partition] != nil }), let origin = CookieOrigin(url) else { return [] }
        let now = now()
        return state.withLock { $0.stores[partition]?.cookies(for: origin, at: now) ?? [] }
    }
}

// MARK: - Apps

extension CookieJar {
    /// Returns all cookies that have not expired, in the order in which they were first stored.
    public func cookies(in partition: String? = nil) -> [StoredCookie] {
        let now = now()
        return state.withLock { $0.stores[partition]?.cookies(at: now) ?? [] }
    }

    /// Stores a cookie that the app creates. It replaces a cookie with the same name, domain and path.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` for a cookie that cannot be sent: with a semicolon or a control
    ///   character, without a name or domain, or larger than 4,096 bytes.
    public func set(_ cookie: StoredCookie, in partition: String? = nil) throws(NetworkError) {
        if let fault = cookie.fault {
            throw NetworkError(.invalidRequest, reason: "the cookie \(cookie.name.quotedForMessage) \(fault)")
        }
        let now = now()
        state.withLock { state in
            state.stores[partition, default: CookieStore()]
                .insert([cookie], at: now, maximumPerDomain: maximumPerDomain, maximum: maximum)
        }
    }

    /// Removes the cookies of a partition for which the closure returns true. By default, removes all of them.
    public func remove(in partition: String? = nil, where isRemoved: (StoredCookie) -> Bool = { _ in true }) {
        // The caller's closure must not run under the lock.
        let removed = Set(cookies(in: partition).filter(isRemoved))
        state.withLock { $0.stores[partition]?.removeAll(where: removed.contains) }
    }
}

extension CookieJar: Resettable {
    /// Removes the cookies of every partition, and the files that the jar was read from or saved to.
    public func reset() {
        let files = state.swap(State()).files
        for file in files { try? FileManager.default.removeItem(at: file) }
    }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    /// The number of cookies, without their values.
    public var description: String {
        "CookieJar of \(state.withLock { $0.stores.values.reduce(0) { $0 + $1.count } }) cookies"
    }

    /// A mirror with only the description, so that `dump` prints no value.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
