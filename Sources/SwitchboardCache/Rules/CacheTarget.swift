import Foundation
import Switchboard
import SwitchboardText

/// The stored responses that `ResponseCache.remove(_:)` or `RequestOptions.makesStale` removes.
///
/// ```swift
/// let cache = ResponseCache()
/// await cache.remove(.tag("todos"))
/// ```
public enum CacheTarget: Sendable, Hashable {
    /// The responses to requests with this tag. See `RequestOptions.cacheTags`.
    case tag(String)
    /// The responses whose path contains these segments: `friends` means `/api/friends` and `/api/friends/7?full=1`,
    /// but not `/api/friendship`. An empty path means none. With an origin, as in `https://example.com/api`, the path
    /// must begin with the segments.
    case path(String)
    /// The responses for this URL, in any spelling. The query must match too, with its parameters in the same order.
    case url(URL)

    /// Returns a closure that tests a stored response by its URL, as in a ``CacheKey``, and its tags.
    var includes: @Sendable (_ url: String, _ tags: Set<String>) -> Bool {
        switch self {
        case .tag(let tag): return { _, tags in tags.contains(tag) }
        case .path(let path):
            guard path.contains("://") else {
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
