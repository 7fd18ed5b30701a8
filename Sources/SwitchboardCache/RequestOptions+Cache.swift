import Switchboard

extension RequestOptions {
    /// The demands of the request on stored responses. Default nothing.
    public var cacheDirectives: CacheDirectives {
        get { self[CacheDirectivesOption.self] }
        set { self[CacheDirectivesOption.self] = newValue }
    }

    /// The time after its lifetime for which a ``ResponseCache`` answers with a stale response at once, and revalidates
    /// it in the background ([RFC 5861 §3](https://www.rfc-editor.org/rfc/rfc5861#section-3)).
    ///
    /// The monitors of the request receive the events of the revalidation. Its failure changes nothing else. It passes
    /// only the interceptors behind the cache, so a `CookieInterceptor` before it does not receive its cookies. A value
    /// overrides the response's `must-revalidate` and `no-cache`. Nil, the default, follows the server's
    /// `stale-while-revalidate`.
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

    /// The names by which ``CacheTarget/tag(_:)`` removes the stored response. Default none.
    public var cacheTags: Set<String> {
        get { self[CacheTagsOption.self] }
        set { self[CacheTagsOption.self] = newValue }
    }

    /// Whether a typed call gets the value that an earlier call decoded from the same stored response. Default false.
    ///
    /// ```swift
    /// let options = RequestOptions { $0.reusesDecodedValue = true }
    /// let page = try await router.request(
    ///     .popular(page: 1), as: MoviePage.self, options: options)
    /// ```
    ///
    /// The value is decoded again for another type, another decoder and a changed body. The decoder must be a
    /// `FastJSONDecoder` without closures, formatters and `userInfo`, or an `Equatable` value; others decode each time.
    /// The cache holds values of responses in memory: up to four of a response, and those of 256 responses. They do not
    /// count towards its `memoryLimit`.
    public var reusesDecodedValue: Bool {
        get { self[ReusesDecodedValueOption.self] }
        set { self[ReusesDecodedValueOption.self] = newValue }
    }

    /// The stored responses that a successful call makes stale. The cache removes them after a 2xx or 3xx answer of the
    /// server, for every identity in the environment of the call. Default none.
    ///
    /// ```swift
    /// let options = RequestOptions { $0.makesStale = [.tag("todos")] }
    /// ```
    ///
    /// A load in flight of such a response is not stored. An answer from the cache removes nothing.
    public var makesStale: [CacheTarget] {
        get { self[MakesStaleOption.self] }
        set { self[MakesStaleOption.self] = newValue }
    }
}

private enum CacheDirectivesOption: RequestOption { static let defaultValue = CacheDirectives() }
private enum StaleWhileRevalidateOption: RequestOption { static let defaultValue: Duration? = nil }
private enum HeuristicFreshnessOption: RequestOption { static let defaultValue = true }
private enum CacheTagsOption: RequestOption { static let defaultValue: Set<String> = [] }
private enum MakesStaleOption: RequestOption { static let defaultValue: [CacheTarget] = [] }
private enum ReusesDecodedValueOption: RequestOption { static let defaultValue = false }
