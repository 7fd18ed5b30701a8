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
/// A server may set cookies for itself and for domains above it, but not for a public suffix such as `co.uk` or
/// `github.io`. The system's libpsl supplies the public suffixes, of registries and of companies. Its list is as old as
/// the system's package, so the jar adds the domains of large hosts, such as `amplifyapp.com` and
/// `blob.core.windows.net`. Without libpsl, as on Apple's systems and Alpine, two rules replace it: every single label
/// is a suffix, and so are the usual labels below a country's, such as `co.uk` and `com.au`. These rules miss suffixes
/// of three labels (`chiyoda.tokyo.jp`) and of smaller hosts: there, one customer's server can set cookies for the
/// servers of all others, and counts as their site for `SameSite`. An IP address may set cookies only for itself.
///
/// RFC 6265bis adds the name prefixes `__Host-` and `__Secure-`. A cookie set without TLS is never `Secure` and never
/// hides a `Secure` one. Cookies with control characters, and those with `SameSite=None` that are not `Secure`, are
/// rejected. A cookie of a server lives at most 400 days. ``CookieInterceptor`` applies the stored `SameSite`.
public final class CookieJar: Sendable {
    struct State: Sendable {
        var stores: [String?: CookieStore] = [:]
        /// The files that the jar was read from or saved to.
        var files: Set<URL> = []
        /// The number of resets.
        var resets = 0

        /// Changes the cookies of a partition. One without cookies takes no memory.
        mutating func change(_ partition: String?, _ body: (inout CookieStore) -> Void) {
            var store = stores.removeValue(forKey: partition) ?? CookieStore()
            body(&store)
            if store.count > 0 { stores[partition] = store }
        }
    }

    /// The maximum number of cookies per domain, and of `Set-Cookie` fields that are read from one response. Above it,
    /// the jar removes expired cookies, then those that are not `Secure`, then the least recently used. At least 1,
    /// default 180.
    public let maximumPerDomain: Int
    /// The maximum number of cookies per partition. Above it, the jar removes expired cookies, then those of the sites
    /// with the most cookies. At least 1, default 3,000.
    public let maximum: Int
    let now: @Sendable () -> Date
    private let isPublicSuffix: @Sendable (String) -> Bool
    let state = Protected(State())
    /// Locked while a file is written. A separate lock, so that no request waits for the disk.
    let saving = Protected(())

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

    /// Returns whether a domain is a public suffix, by the system's list and ``BuiltInSuffixes/hosts``, or by
    /// ``BuiltInSuffixes`` alone.
    package static func isPublicSuffix(_ domain: String) -> Bool {
        guard domain.utf8.contains(.dot), !BuiltInSuffixes.hosts.contains(domain) else { return true }
        guard case .success(let suffixes) = PublicSuffixes.loaded else { return BuiltInSuffixes.contains(domain) }
        return suffixes.contains(domain)
    }
}

// MARK: - Exchanges

extension CookieJar {
    /// The partitions with cookies, in order of their names.
    private var partitions: [String?] {
        state.withLock { Array($0.stores.keys) }.sorted { ($0 ?? "") < ($1 ?? "") }
    }

    /// Returns the name below which a domain and its neighbors belong to one owner: `example.co.uk` for
    /// `a.b.example.co.uk`.
    func site(_ domain: String) -> String {
        guard IPAddress(host: domain.withoutRootDot) == nil, !isPublicSuffix(domain) else { return domain }
        // No public suffix has more labels.
        var labels = domain.split(separator: ".").suffix(8)
        while labels.count > 1, !isPublicSuffix(labels.dropFirst().joined(separator: ".")) { labels.removeFirst() }
        return labels.joined(separator: ".")
    }

    /// Returns whether two hosts, in lower case, belong to one site. A host with a trailing dot is another one.
    func isSameSite(_ one: String, _ other: String) -> Bool {
        one == other || (one.utf8.last == .dot) == (other.utf8.last == .dot) && site(one) == site(other)
    }

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
        insert(cookies, in: partition, at: now, isOverTLS: origin.isSecure)
    }

    /// Stores cookies in a partition. Those that were not set over TLS must not hide a `Secure` one.
    func insert(_ cookies: [StoredCookie], in partition: String?, at now: Date, isOverTLS: Bool = true) {
        state.withLock { state in
            state.change(partition) { store in
                store.insert(
                    isOverTLS ? cookies : store.withoutHidingSecure(cookies, at: now), at: now,
                    maximumPerDomain: maximumPerDomain, maximum: maximum, site: site)
            }
        }
    }

    /// Returns the cookies for a request to a URL in any partition. Those of a partition are together, in the order in
    /// which they are sent.
    public func cookies(for url: URL) -> [StoredCookie] {
        partitions.flatMap { cookies(for: url, in: $0) }
    }

    /// Returns whether a partition has cookies, expired ones included.
    func hasCookies(in partition: String?) -> Bool { state.withLock { $0.stores[partition] != nil } }

    /// Returns the cookies for a request to a URL in a partition, in the order in which they are sent. The partition is
    /// that of `RequestOptions.partition`: for a `NetworkManager` the name of its environment, and nil without one.
    public func cookies(for url: URL, in partition: String?) -> [StoredCookie] {
        guard hasCookies(in: partition), let origin = CookieOrigin(url) else { return [] }
        let now = now()
        return state.withLock { $0.stores[partition]?.cookies(for: origin, at: now) ?? [] }
    }
}

// MARK: - Apps

extension CookieJar {
    /// Returns the cookies of all partitions that have not expired. Those of a partition are together, in the order in
    /// which they were first stored.
    public func cookies() -> [StoredCookie] {
        partitions.flatMap { cookies(in: $0) }
    }

    /// Returns the cookies of a partition that have not expired, in the order in which they were first stored.
    public func cookies(in partition: String?) -> [StoredCookie] {
        let now = now()
        return state.withLock { $0.stores[partition]?.cookies(at: now) ?? [] }
    }

    /// Stores a cookie that the app creates. It replaces a cookie with the same name, domain, path and
    /// ``StoredCookie/isHostOnly``; an expired one only removes it. The requests of a `NetworkManager` have the name of
    /// its environment as partition, and carry only the cookies in it.
    ///
    /// - Throws: `NetworkError.Code.invalidRequest` for a cookie that cannot be sent: with a semicolon, a control
    ///   character or blanks around a part, without a name or domain, with `=` in the name, with a domain that is not
    ///   ASCII, begins with a dot, or has a slash or a port, with a path that begins without a slash, or larger than
    ///   4,096 bytes.
    public func set(_ cookie: StoredCookie, in partition: String? = nil) throws(NetworkError) {
        if let fault = cookie.fault() {
            throw NetworkError(.invalidRequest, reason: "the cookie \(cookie.name.quotedForMessage) \(fault)")
        }
        insert([cookie], in: partition, at: now())
    }

    /// Removes the cookies of all partitions for which the closure returns true. By default, removes all of them.
    public func remove(where isRemoved: (StoredCookie) -> Bool = { _ in true }) {
        for partition in partitions { remove(in: partition, where: isRemoved) }
    }

    /// Removes the cookies of a partition for which the closure returns true. By default, removes all of them.
    public func remove(in partition: String?, where isRemoved: (StoredCookie) -> Bool = { _ in true }) {
        // The caller's closure must not run under the lock.
        let removed = cookies(in: partition).filter(isRemoved)
        state.withLock { state in state.change(partition) { $0.remove(removed) } }
    }
}

extension CookieJar: Resettable {
    /// Removes the cookies of every partition, and the files that the jar was read from or saved to. A file that
    /// cannot be removed remains without cookies.
    public func reset() {
        let files = state.withLock { state in
            defer { state = State(resets: state.resets + 1) }
            return state.files
        }
        // A later reset tries again.
        let remaining = files.filter { !Self.remove($0) }
        state.withLock { $0.files.formUnion(remaining) }
    }
}

extension CookieJar: DumpedAsDescription {
    /// The number of cookies, without their values.
    public var description: String {
        "CookieJar of \(state.withLock { $0.stores.values.reduce(0) { $0 + $1.count } }) cookies"
    }
}
