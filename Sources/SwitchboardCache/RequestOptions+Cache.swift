import Switchboard
import Foundation
import SwitchboardPlatform

extension ResponseCache {
    /// The time for which a ``ResponseCache`` answers with a stored response.
    ///
    /// ``time(_:)`` and ``unlimited`` cover responses with a 2xx status. The lifetime of all others is the server's.
    public enum Lifetime: Sendable, Hashable {
        /// The cache is off: it stores nothing and answers nothing.
        case none
        /// A fixed time after the response was stored. It overrides the freshness that the server states.
        case time(Duration)
        /// No limit: the response stays until it is removed or evicted.
        case unlimited
        /// The lifetime that the server states, by the rules of a private cache ([RFC
        /// 9111](https://www.rfc-editor.org/rfc/rfc9111)): `max-age` or `Expires`, less `Age`, or an estimate from
        /// `Last-Modified`, see `RequestOptions.usesHeuristicFreshness`. A response without a lifetime is revalidated
        /// for each call if it has a validator, and otherwise loaded again.
        case server
    }
}

extension RequestOptions {
    /// The time for which a ``ResponseCache`` may answer instead of the server. Default
    /// ``ResponseCache/Lifetime/server``. The option has no effect without a ``ResponseCache``.
    ///
    /// The `cachePolicy` of a request may bypass the stored response, or accept one of any age. The article *Caching* of
    /// the core has a table.
    public var cacheLifetime: ResponseCache.Lifetime {
        get { self[CacheLifetimeOption.self] }
        set { self[CacheLifetimeOption.self] = newValue }
    }

    /// The time after its lifetime for which a ``ResponseCache`` may return a stored response because the server fails:
    /// no connection, a timeout of the attempt, or status 500, 502, 503 or 504 ([RFC 5861
    /// §4](https://www.rfc-editor.org/rfc/rfc5861#section-4)). A fresh response may replace a failed validation too. The
    /// total timeout still ends the whole call.
    ///
    /// A value overrides the response's `must-revalidate` and `no-cache`. A `RetryPolicy` does not retry after a stale
    /// answer. Nil, the default, follows the server's `stale-if-error`, unless `must-revalidate` or `no-cache` forbids
    /// it.
    public var staleIfError: Duration? {
        get { self[StaleIfErrorOption.self] }
        set { self[StaleIfErrorOption.self] = newValue }
    }

    /// Options for one call that bypass the stored response of a ``ResponseCache``, and store the new one. The request
    /// also tells intermediate caches to ask the server (`Cache-Control: no-cache`).
    ///
    /// ```swift
    /// let page = try await router.request(
    ///     .popular(page: 1), as: MoviePage.self, options: .refreshing)
    /// ```
    public static var refreshing: RequestOptions {
        RequestOptions { $0.cachePolicy = .reloadIgnoringLocalAndRemoteCacheData }
    }

    /// The request's cache directives. Default none.
    public var cacheDirectives: ResponseCache.Directives {
        get { self[CacheDirectivesOption.self] }
        set { self[CacheDirectivesOption.self] = newValue }
    }

    /// The time after its lifetime for which a ``ResponseCache`` answers with a stale response at once, and revalidates
    /// it in the background ([RFC 5861 §3](https://www.rfc-editor.org/rfc/rfc5861#section-3)).
    ///
    /// The monitors of the request receive the events of the revalidation. A failed revalidation changes nothing else.
    /// A revalidation passes only the interceptors after the cache, so a `CookieInterceptor` before the cache does not
    /// receive its cookies. A value applies to a response with a 2xx status, and overrides its `must-revalidate` and
    /// `no-cache`. Nil, the default, follows the server's `stale-while-revalidate`.
    public var staleWhileRevalidate: Duration? {
        get { self[StaleWhileRevalidateOption.self] }
        set { self[StaleWhileRevalidateOption.self] = newValue }
    }

    /// Whether a response without a stated lifetime is fresh for a tenth of the time since its `Last-Modified`, and at
    /// most a day ([RFC 9111 §4.2.2](https://www.rfc-editor.org/rfc/rfc9111#section-4.2.2)). Default true.
    public var usesHeuristicFreshness: Bool {
        get { self[HeuristicFreshnessOption.self] }
        set { self[HeuristicFreshnessOption.self] = newValue }
    }

    /// The names by which ``ResponseCache/Target/tag(_:)`` removes the stored response. Default none.
    public var cacheTags: Set<String> {
        get { self[CacheTagsOption.self] }
        set { self[CacheTagsOption.self] = newValue }
    }

    /// The stored responses that a successful call makes stale. The cache removes them after a 2xx or 3xx answer of the
    /// server, for every identity in the environment of the call. Default none.
    ///
    /// ```swift
    /// let options = RequestOptions { $0.makesStale = [.tag("todos")] }
    /// ```
    ///
    /// A load in flight of such a response is not stored. An answer from the cache removes nothing.
    public var makesStale: [ResponseCache.Target] {
        get { self[MakesStaleOption.self] }
        set { self[MakesStaleOption.self] = newValue }
    }
}

extension ResponseCache {
    /// The directives of a request's `Cache-Control` ([RFC 9111
    /// §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)), as values.
    ///
    /// ```swift
    /// let options = RequestOptions {
    ///     $0.cacheDirectives.maxStale = .seconds(600)
    /// }
    /// ```
    ///
    /// The cache writes them into the field, so that intermediate caches read them too. A `Cache-Control` field that the
    /// request sets itself takes precedence.
    public struct Directives: Sendable, Hashable {
        /// The largest accepted age, in whole seconds. Nil accepts any age.
        public var maxAge: Duration?
        /// The accepted time since the end of the lifetime, in whole seconds. A century or more accepts any. Nil
        /// accepts no stale response.
        public var maxStale: Duration?
        /// The time for which the response must still be fresh, in whole seconds. Nil makes no demand.
        public var minFresh: Duration?
        /// Whether the server must confirm a stored response. Default false.
        public var noCache = false
        /// Whether the response must not be stored. Default false.
        public var noStore = false
        /// Whether a GET or a HEAD is not sent. Without a fitting stored response, it fails with
        /// `NetworkError.Code.notCached`. Default false.
        public var onlyIfCached = false

        /// Creates no directives.
        public init() {}

        /// The value of the field. Nil without directives.
        var field: String? {
            func seconds(_ name: String, _ time: Duration?) -> String? {
                time.map { "\(name)=\(max(0, $0.components.seconds))" }
            }
            let isAnyStale = maxStale.map { $0 >= .century } ?? false
            let parts = [
                seconds("max-age", maxAge), isAnyStale ? "max-stale" : seconds("max-stale", maxStale),
                seconds("min-fresh", minFresh), noCache ? "no-cache" : nil, noStore ? "no-store" : nil,
                onlyIfCached ? "only-if-cached" : nil,
            ].compactMap { $0 }
            return parts.isEmpty ? nil : parts.joined(separator: ", ")
        }
    }
}

extension NetworkRequest {
    /// The request with its directives as a header field.
    var withCacheDirectives: NetworkRequest {
        let directives = options.cacheDirectives
        guard directives != ResponseCache.Directives(), let field = directives.field else { return self }
        let own = headers.values(for: "Cache-Control")
        // The core adds one directive for a policy. The options' directives are added to it.
        guard own.isEmpty || own == [options.cachePolicy.directive] else { return self }
        var request = self
        request.headers.set("Cache-Control", (own + [field]).joined(separator: ", "))
        return request
    }
}

private enum CacheDirectivesOption: RequestOption { static let defaultValue = ResponseCache.Directives() }
private enum StaleWhileRevalidateOption: RequestOption { static let defaultValue: Duration? = nil }
private enum HeuristicFreshnessOption: RequestOption { static let defaultValue = true }
private enum CacheTagsOption: RequestOption { static let defaultValue: Set<String> = [] }
private enum MakesStaleOption: RequestOption { static let defaultValue: [ResponseCache.Target] = [] }
private enum CacheLifetimeOption: RequestOption { static let defaultValue = ResponseCache.Lifetime.server }
private enum StaleIfErrorOption: RequestOption { static let defaultValue: Duration? = nil }
