import Switchboard

/// How long a ``ResponseCache`` answers from what it stored.
public enum CacheLifetime: Sendable, Hashable {
    /// Not at all: nothing is stored, nothing is answered.
    case none
    /// This long after it was stored, whatever the server says of freshness.
    case time(Duration)
    /// Until it is removed, or makes room for others.
    case unlimited
    /// As the server says, by the rules of a private cache ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)): `max-age`
    /// or `Expires`, less its `Age`. What says nothing of that is asked for each time, with its validator if it has one;
    /// nothing is guessed of `Last-Modified`.
    case server
}

extension RequestOptions {
    /// How long a ``ResponseCache`` may answer instead of the server. Default ``CacheLifetime/server``. Without such an
    /// interceptor it does nothing.
    ///
    /// `cachePolicy` says what is done with that: `.reloadIgnoringLocalCacheData` and
    /// `.reloadIgnoringLocalAndRemoteCacheData` load anew, and store what came; `.reloadRevalidatingCacheData` asks the
    /// server whether it is still right; `.returnCacheDataElseLoad` takes what is there however old it is, and
    /// `.returnCacheDataDontLoad` sends nothing: without an answer it is `NetworkError.Code.notCached`.
    public var cacheLifetime: CacheLifetime {
        get { self[CacheLifetimeOption.self] }
        set { self[CacheLifetimeOption.self] = newValue }
    }

    /// How long after its lifetime a ``ResponseCache`` may still answer when the server cannot: no connection, a timeout of
    /// the attempt (the total one ends the whole call), or 500, 502, 503 and 504 ([RFC 5861
    /// §4](https://www.rfc-editor.org/rfc/rfc5861#section-4)). Set, it wins over the response's `must-revalidate` and
    /// `no-cache`; a `RetryPolicy` does not ask again after such an answer. It also makes a response storable that has
    /// neither freshness nor validator: each call asks the server, and only a failure is answered from the store. Nil, the
    /// default, as the server's `stale-if-error` says, if these two allow it.
    public var staleIfError: Duration? {
        get { self[StaleIfErrorOption.self] }
        set { self[StaleIfErrorOption.self] = newValue }
    }

    /// For one call: load it anew, whatever a ``ResponseCache`` has, and store what comes. Caches on the way are told to ask
    /// the server too (`Cache-Control: no-cache`).
    ///
    /// ```swift
    /// let page = try await router.request(.popular(page: 1), as: MoviePage.self, options: .refreshing)
    /// ```
    public static var refreshing: RequestOptions {
        RequestOptions { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
    }
}

private enum CacheLifetimeOption: RequestOption { static let defaultValue = CacheLifetime.server }
private enum StaleIfErrorOption: RequestOption { static let defaultValue: Duration? = nil }
