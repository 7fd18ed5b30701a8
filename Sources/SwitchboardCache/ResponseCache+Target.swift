import Foundation
import Switchboard
import SwitchboardText

extension ResponseCache {
    /// The stored responses that `ResponseCache.remove(_:)` or `RequestOptions.makesStale` removes.
    ///
    /// ```swift
    /// let cache = ResponseCache()
    /// await cache.remove(.tag("todos"))
    /// ```
    public enum Target: Sendable, Hashable {
        /// The responses to requests with this tag. See `RequestOptions.cacheTags`.
        case tag(String)
        /// The responses whose path contains these segments: `friends` means `/api/friends` and
        /// `/api/friends/7?full=1`, but not `/api/friendship`. An empty path means none. After an origin, as in
        /// `https://example.com/api`, the path must begin with the segments. An origin alone means all its responses.
        case path(String)
        /// The responses for this URL, in any spelling. The query must match too, with its parameters in the same
        /// order.
        case url(URL)

        /// Returns a closure that tests a stored response by its URL, as in a ``CacheKey``, and its tags.
        var includes: @Sendable (_ url: String, _ tags: Set<String>) -> Bool {
            switch self {
            case .tag(let tag): return { _, tags in tags.contains(tag) }
            case .path(let path):
                guard path.hasOrigin else {
                    let wanted = CachePath(path)
                    return { url, _ in CachePath(ofURL: url).contains(wanted) }
                }
                let text = path.asCacheKey
                let (origin, wanted) = (String(text.origin), CachePath(ofURL: text))
                return { url, _ in url.origin == origin && CachePath(ofURL: url).starts(with: wanted) }
            case .url(let url):
                let text = url.asCacheKey
                return { stored, _ in stored.hasBytes(of: text) }
            }
        }
    }
}

/// A path as a list of segments, which are compared byte by byte and without their escapes.
struct CachePath: Sendable {
    private let segments: [[UInt8]]

    var isEmpty: Bool { segments.isEmpty }

    /// Reads a path without its query, its fragment and its empty segments.
    init(_ path: some StringProtocol) {
        segments = path.utf8.prefix { $0 != .questionMark && $0 != .numberSign }.split(separator: .slash)
            .map(\.percentDecoded)
    }

    /// Reads the path of a URL, as in a ``CacheKey``.
    init(ofURL url: String) {
        self.init(url[url.originEnd...])
    }

    func starts(with other: CachePath) -> Bool { segments.starts(with: other.segments) }

    func ends(with other: CachePath) -> Bool { segments.suffix(other.segments.count) == other.segments[...] }

    func contains(_ other: CachePath) -> Bool {
        let count = other.segments.count
        guard count > 0, count <= segments.count else { return false }
        return (0...(segments.count - count)).contains { segments[$0..<($0 + count)] == other.segments[...] }
    }
}

extension String {
    /// The scheme, the host and the port of a URL, as in a ``CacheKey``.
    var origin: Substring { self[..<originEnd] }

    var urlWithoutQuery: Substring { self[..<(utf8.firstIndex(of: .questionMark) ?? endIndex)] }

    fileprivate var originEnd: Index {
        guard let mark = schemeMark else { return startIndex }
        return self[mark.upperBound...].utf8.firstIndex(of: .slash) ?? endIndex
    }
}
