import Foundation

/// The cookies of one partition, by domain.
struct CookieShelf: Sendable {
    struct Entry: Sendable {
        var cookie: Cookie
        /// What is smaller came, or was used, earlier.
        var created: UInt64
        var used: UInt64
    }

    private var entries: [String: [Entry]] = [:]
    private(set) var count = 0
    private var clock: UInt64 = 0

    /// All that have not expired, in the order in which they came.
    func cookies(at now: Date) -> [Cookie] {
        entries.values.joined().filter { !$0.cookie.isExpired(at: now) }.sorted { $0.created < $1.created }
            .map(\.cookie)
    }

    /// Those for a request, by [RFC 6265 §5.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.4): longer paths first,
    /// then those that came earlier.
    mutating func cookies(for origin: CookieOrigin, at now: Date) -> [Cookie] {
        guard count > 0 else { return [] }
        var found: [Entry] = []
        var rest = Substring(origin.host)
        while true {
            let domain = String(rest)
            for index in (entries[domain] ?? []).indices {
                guard let cookie = entries[domain]?[index].cookie, !cookie.isExpired(at: now), cookie.goes(to: origin)
                else { continue }
                clock += 1
                entries[domain]?[index].used = clock
                if let entry = entries[domain]?[index] { found.append(entry) }
            }
            guard let dot = rest.firstIndex(of: ".") else { break }
            rest = rest[rest.index(after: dot)...]
        }
        return found.sorted {
            let (one, other) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return one == other ? $0.created < $1.created : one > other
        }.map(\.cookie)
    }

    /// Puts a cookie in the place of the one it replaces, or takes that away when it has expired.
    mutating func insert(_ cookie: Cookie, at now: Date, maximumPerDomain: Int, maximum: Int) {
        clock += 1
        var list = entries[cookie.domain] ?? []
        let before = list.count
        let place = list.firstIndex { cookie.replaces($0.cookie) }
        if cookie.isExpired(at: now) {
            if let place { list.remove(at: place) }
        } else if let place {
            list[place].cookie = cookie
            list[place].used = clock
        } else {
            list.append(Entry(cookie: cookie, created: clock, used: clock))
            if list.count > maximumPerDomain { list.removeAll { $0.cookie.isExpired(at: now) } }
            while list.count > maximumPerDomain, let oldest = list.indices.min(by: { list[$0].used < list[$1].used }) {
                list.remove(at: oldest)
            }
        }
        entries[cookie.domain] = list.isEmpty ? nil : list
        count += list.count - before
        if count > maximum { evict(to: maximum, at: now) }
    }

    /// Takes away those that have expired, and then those that were not used for longest: a twentieth more than there must,
    /// so that a server that sets many does not cost a look at all for each.
    private mutating func evict(to maximum: Int, at now: Date) {
        removeAll { $0.isExpired(at: now) }
        guard count > maximum else { return }
        let excess = count - maximum + maximum / 20
        let oldest = Set(entries.values.joined().map(\.used).sorted().prefix(excess))
        entries = entries.compactMapValues { list in
            let kept = list.filter { !oldest.contains($0.used) }
            return kept.isEmpty ? nil : kept
        }
        count = entries.values.reduce(0) { $0 + $1.count }
    }

    mutating func removeAll(where isRemoved: (Cookie) -> Bool) {
        entries = entries.compactMapValues { list in
            let kept = list.filter { !isRemoved($0.cookie) }
            return kept.isEmpty ? nil : kept
        }
        count = entries.values.reduce(0) { $0 + $1.count }
    }

    /// Whether there is one over TLS that a cookie set without it would hide.
    func hasSecureOne(hiddenBy cookie: Cookie) -> Bool {
        entries.values.joined().contains { cookie.hides($0.cookie) }
    }
}
