import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The cookies of one partition, indexed by domain, then by name, path and `isHostOnly`.
struct CookieStore: Sendable {
    private struct Entry: Sendable {
        var cookie: StoredCookie
        /// Logical times: a smaller number is earlier.
        var created: UInt64
        var used: UInt64
    }

    /// The identity of a cookie within its domain ([RFC 6265bis
    /// §5.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7)), in bytes: `String`
    /// treats two spellings of one character as equal.
    private struct Key: Hashable {
        private let bytes: [UInt8]
        private let isHostOnly: Bool

        init(_ cookie: StoredCookie) {
            // Neither part contains a NUL.
            bytes = cookie.name.utf8 + [0] + cookie.path.utf8
            isHostOnly = cookie.isHostOnly
        }
    }

    private var entries: [String: [Key: Entry]] = [:]
    private(set) var count = 0
    /// The number of stored cookies examined so far. Tests check that it stays low.
    private(set) var examinedCount = 0
    private var clock: UInt64 = 0

    /// Returns all cookies that have not expired, in the order in which they were first stored.
    func cookies(at now: Date) -> [StoredCookie] {
        entries.values.lazy.flatMap(\.values).filter { !$0.cookie.isExpired(at: now) }
            .sorted { $0.created < $1.created }.map(\.cookie)
    }

    /// Returns the cookies for a request ([RFC 6265 §5.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.4)): longer
    /// paths first, then earlier cookies.
    mutating func cookies(for origin: CookieOrigin, at now: Date) -> [StoredCookie] {
        guard count > 0 else { return [] }
        var found: [Entry] = []
        for domain in origin.host.domainsAbove {
            guard let list = entries[domain] else { continue }
            examinedCount += list.count
            for (key, entry) in list where !entry.cookie.isExpired(at: now) && entry.cookie.isSent(to: origin) {
                clock += 1
                entries[domain]?[key]?.used = clock
                found.append(entry)
            }
        }
        return found.sorted {
            let (lhs, rhs) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return lhs == rhs ? $0.created < $1.created : lhs > rhs
        }.map(\.cookie)
    }

    /// Stores cookies in place of their previous versions, and removes those that are now expired. Then it enforces
    /// both limits once.
    mutating func insert(
        _ cookies: [StoredCookie], at now: Date, maximumPerDomain: Int, maximum: Int, site: (String) -> String
    ) {
        var grownDomains: Set<String> = []
        for cookie in cookies {
            clock += 1
            let key = Key(cookie)
            guard !cookie.isExpired(at: now) else {
                remove(key, of: cookie.domain)
                continue
            }
            let old = entries[cookie.domain]?[key]
            // An expired cookie has no creation time to keep.
            let created = old.flatMap { $0.cookie.isExpired(at: now) ? nil : $0.created }
            entries[cookie.domain, default: [:]][key] = Entry(cookie: cookie, created: created ?? clock, used: clock)
            guard old == nil else { continue }
            count += 1
            grownDomains.insert(cookie.domain)
        }
        for domain in grownDomains { trim(domain, to: maximumPerDomain, at: now) }
        if count > maximum { evict(to: maximum, at: now, site) }
    }

    /// Removes cookies of a domain above the limit, expired ones first.
    private mutating func trim(_ domain: String, to maximum: Int, at now: Date) {
        guard let list = entries[domain], list.count > maximum else { return }
        examinedCount += list.count
        let kept = list.filter { !$0.value.cookie.isExpired(at: now) }
            .sorted { Self.outranks($0.value, $1.value) }.prefix(maximum)
        entries[domain] = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
        count -= list.count - kept.count
    }

    /// Removes cookies of all domains above the limit: first expired ones, then those of the sites with the most
    /// cookies, so that a server cannot evict the cookies of other sites. Within a site, the order is that of a domain.
    /// It removes 5% more than needed, so that not every response causes a full scan.
    private mutating func evict(to maximum: Int, at now: Date, _ site: (String) -> String) {
        examinedCount += count
        filterEntries { !$0.cookie.isExpired(at: now) }
        guard count > maximum else { return }
        var sites: [String: [Entry]] = [:]
        for (domain, list) in entries { sites[site(domain), default: []] += list.values }
        // The rank counts the more important cookies of the same site.
        let ranked = sites.values.flatMap { $0.sorted(by: Self.outranks).enumerated() }
        let kept = ranked.sorted { lhs, rhs in
            lhs.offset == rhs.offset ? lhs.element.used > rhs.element.used : lhs.offset < rhs.offset
        }.prefix(maximum - maximum / 20)
        let times = Set(kept.map(\.element.used))
        filterEntries { times.contains($0.used) }
    }

    /// Returns whether `lhs` is evicted after `rhs` of the same site. Cookies that are not `Secure` are evicted first,
    /// then the least recently used ([RFC 6265bis
    /// §5.7](https://datatracker.ietf.org/doc/html/draft-ietf-httpbis-rfc6265bis#section-5.7)).
    private static func outranks(_ lhs: Entry, _ rhs: Entry) -> Bool {
        lhs.cookie.isSecure == rhs.cookie.isSecure ? lhs.used > rhs.used : lhs.cookie.isSecure
    }

    /// Removes cookies, except those that have changed.
    mutating func remove(_ cookies: [StoredCookie]) {
        for cookie in cookies where entries[cookie.domain]?[Key(cookie)]?.cookie == cookie {
            remove(Key(cookie), of: cookie.domain)
        }
    }

    private mutating func remove(_ key: Key, of domain: String) {
        guard entries[domain]?.removeValue(forKey: key) != nil else { return }
        if entries[domain]?.isEmpty == true { entries[domain] = nil }
        count -= 1
    }

    private mutating func filterEntries(_ isKept: (Entry) -> Bool) {
        entries = entries.compactMapValues { list in
            let kept = list.filter { isKept($0.value) }
            return kept.isEmpty ? nil : kept
        }
        count = entries.values.reduce(0) { $0 + $1.count }
    }

    /// Returns the cookies, all set without TLS, that do not hide a `Secure` cookie.
    mutating func withoutHidingSecure(_ cookies: [StoredCookie], at now: Date) -> [StoredCookie] {
        guard let widest = cookies.map(\.domain).min(by: { $0.utf8.count < $1.utf8.count }) else { return [] }
        // Each domain is the origin's host or a domain above it, so every hidden cookie is above or below the shortest.
        let names = Set(cookies.map(\.name))
        var secure: [String: [StoredCookie]] = [:]
        for (domain, list) in entries where domain.domainMatches(widest) || widest.domainMatches(domain) {
            examinedCount += list.count
            for cookie in list.values.lazy.map(\.cookie)
            where cookie.isSecure && !cookie.isExpired(at: now) && names.contains(cookie.name) {
                secure[cookie.name, default: []].append(cookie)
            }
        }
        guard !secure.isEmpty else { return cookies }
        return cookies.filter { cookie in
            !(secure[cookie.name] ?? []).contains { other in
                examinedCount += 1
                return cookie.hides(other)
            }
        }
    }
}

extension String {
    /// The name and the domains above it: `a.b.c`, `b.c` and `c`.
    fileprivate var domainsAbove: [String] {
        var names = [self]
        var rest = utf8[...]
        while let dot = rest.firstIndex(of: .dot) {
            rest = rest[rest.index(after: dot)...]
            names.append(String(decoding: rest, as: UTF8.self))
        }
        return names
    }
}
