import Foundation
import Switchboard

/// The time for which a ``ResponseCache`` answers with a stored response.
///
/// ``time(_:)`` and ``unlimited`` cover responses with a 2xx status. The lifetime of all others is the server's.
public enum CacheLifetime: Sendable, Hashable {
    /// The cache is off: it stores nothing and answers nothing.
    case none
    /// A fixed time after the response was stored. It overrides the freshness that the server states.
    case time(Duration)
    /// No limit: the response stays until it is removed or evicted.
    case unlimited
    /// The lifetime that the server states, by the rules of a private cache ([RFC
    /// 9111](https://www.rfc-editor.org/rfc/rfc9111)): `max-age` or `Expires`, less `Age`, or an estimate from
    /// `Last-Modified`, see `RequestOptions.usesHeuristicFreshness`. A response without a lifetime is revalidated for
    /// each call if it has a validator, and otherwise loaded again.
    case server
}

extension RequestOptions {
    /// The time for which a ``ResponseCache`` may answer instead of the server. Default ``CacheLifetime/server``. The
    /// option has no effect without a ``ResponseCache``.
    ///
    /// `cachePolicy` decides how the cache applies it. `.reloadIgnoringLocalCacheData` and
    /// `.reloadIgnoringLocalAndRemoteCacheData` load the response again and store it. `.reloadRevalidatingCacheData`
    /// revalidates the stored response with the server. `.returnCacheDataElseLoad` returns a stored response of any
    /// age. `.returnCacheDataDontLoad` sends nothing, and throws `NetworkError.Code.notCached` when no response is
    /// stored.
    public var cacheLifetime: CacheLifetime {
        get { self[CacheLifetimeOption.self] }
        set { self[CacheLifetimeOption.self] = newValue }
    }

    /// The time after its lifetime for which a ``ResponseCache`` may return a stale response because the server fails:
    /// no connection, a timeout of the attempt, or status 500, 502, 503 or 504 ([RFC 5861
    /// §4](https://www.rfc-editor.org/rfc/rfc5861#section-4)). The total timeout still ends the whole call.
    ///
    /// A value overrides the response's `must-revalidate` and `no-cache`. A `RetryPolicy` does not retry after a stale
    /// answer. Nil, the default, follows the server's `stale-if-error`, unless `must-revalidate` or `no-cache` forbids
    /// it.
    public var staleIfError: Duration? {
        get { self[StaleIfErrorOption.self] }
        set { self[StaleIfErrorOption.self] = newValue }
    }

    /// Options for one call that bypass the stored response of a ``ResponseCache``, and store the new one. The request
    /// also tells caches on the way to ask the server (`Cache-Control: no-cache`).
    ///
    /// ```swift
    /// let page = try await router.request(
    ///     .popular(page: 1), as: MoviePage.self, options: .refreshing)
    /// ```
    public static var refreshing: RequestOptions {
        RequestOptions { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
    }
}

private enum CacheLifetimeOption: RequestOption { static let defaultValue = CacheLifetime.server }
private enum StaleIfErrorOption: RequestOption { static let defaultValue: Duration? = nil }
