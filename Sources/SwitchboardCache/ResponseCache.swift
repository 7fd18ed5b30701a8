import SwitchboardPlatform
import Foundation
import Switchboard

/// Stores responses to GET requests in memory and on disk, and answers later requests with them.
///
/// ```swift
/// let cache = ResponseCache()
/// let manager = NetworkManager(
///     interceptors: [login], exchangeInterceptors: [cache])
/// ```
///
/// The cache stores what [RFC 9111 §3](https://www.rfc-editor.org/rfc/rfc9111#section-3) lets a private cache store,
/// streams and downloads while they are read, and parts. `RequestOptions.cacheLifetime` sets how long an endpoint's
/// responses stay fresh. By default, the server's header fields decide. The cache revalidates a stale response that has
/// an `ETag` or a `Last-Modified`. `RequestOptions.refreshing` reloads for one call.
///
/// A cache hit needs the same URL, the same `RequestOptions.partition` (a manager's environment) and the same header
/// fields, including credentials and cookies, except `User-Agent` and those about caching, ranges, conditions and
/// tracing. `NetworkResponse.cacheOutcome` states the part that the cache had in a response,
/// `NetworkResponse.cacheAge` the age of a stored one, and `NetworkResponse.notStoredReason` why one was not stored. The
/// article *Caching* of the core has all rules.
///
/// **Where to list it.** List the cache last of the exchange interceptors, after interceptors that add credentials.
/// Without `identity`, it never stores a response when an interceptor after it changed the request or when a login
/// after it decided about the request. So no user receives the response of another, wherever the cache is listed.
/// A `RequestSigner` is the exception: list it after a cache with `identity`, so that it also signs validations, and
/// before a cache without `identity`, where a signature that changes with each request prevents cache hits.
///
/// With `identity`, the cache may be the first of the interceptors. It then answers before a limiter, a circuit breaker
/// or a login, and trusts `identity`: equal identities share responses. It does not store a response whose `Vary` names
/// a field that an interceptor after it added, nor one for whose request `identity` returns another value when it
/// arrives. A request for which `identity` returns nil is compared by its header fields, as without `identity`.
///
/// `Router.reset()` removes all stored responses.
public final class ResponseCache: Interceptor, ExchangeInterceptor, Resettable {
    /// Returns the identity that a request belongs to: an account's name for example, not a token, because tokens
    /// change. Nil for a guest: such requests share responses only if their header fields are equal, as without
    /// `identity`.
    public typealias Identity = @Sendable (_ request: NetworkRequest) -> String?

    let storage: CacheStorage
    let identity: Identity?
    let revalidations = CacheRevalidations()
    let now: @Sendable () -> Date

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: The largest total size, in bytes. The cache does not store a larger response, nor a streamed
    ///     one above an eighth of it, and evicts the least recently used ones.
    ///   - identity: Returns the identity of a request, which replaces its header fields in the comparison. Nil, the
    ///     default, compares the header fields.
    ///   - now: Returns the current time.
    public init(
        memoryLimit: Int = 20 << 20, identity: Identity? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        storage = CacheStorage(MemoryCache(limit: max(0, memoryLimit)), nil)
        self.identity = identity
        self.now = now
    }

    /// Creates a cache in memory and on disk. Later runs of the program find the responses on disk.
    ///
    /// Only the owner can read the files. They are not encrypted: they contain URLs with their parameters, and header
    /// fields and bodies of responses, but no header field of a request.
    ///
    /// Several caches and processes may use one folder. A removal or a newer response of one reaches the memory of the
    /// others within a second. A body of more than 1 MiB is on disk only.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files, as a file URL. Created if missing, with the folders above it.
    ///   - diskLimit: The largest total size on disk, in bytes. A file counts with the space that it occupies, often a
    ///     multiple of 4 KiB, and must be at least that. The cache evicts the least recently used ones. A larger
    ///     response is not stored on disk, and an event of the call states that.
    ///   - memoryLimit: The largest total size in memory, in bytes.
    ///   - identity: Returns the identity of a request, which replaces its header fields in the comparison. Nil, the
    ///     default, compares the header fields.
    ///   - now: Returns the current time.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when the folder cannot be created, when other users own it or can
    ///   write it, or when the disk limit is less than the 4 KiB of the smallest file. `NetworkError.Code.unsupported`
    ///   on a system without a hash function for the file names. A folder that exists and is read-only is accepted; the
    ///   cache then stores in memory.
    public init(
        folder: URL, diskLimit: Int = 100 << 20, memoryLimit: Int = 20 << 20, identity: Identity? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(NetworkError) {
        let disk = try DiskCache(folder, limit: diskLimit)
        storage = CacheStorage(MemoryCache(limit: max(0, memoryLimit)), disk)
        self.identity = identity
        self.now = now
    }

    /// Answers with the stored response, or sends the request and stores its response.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        var request = request.withCacheDirectives
        // A request of an earlier response carries its outcome.
        if request.cacheRecord != nil {
            (request.cacheRecord, request[RefusedDownload.self]) = (nil, nil)
        }
        guard let key = CacheKey(request, identity: identity) else {
            guard !request.isCacheOnlyRead else { throw Self.notCached }
            return try await sendUncached(request, next)
        }
        if request.isConditional, let condition = await condition(of: request, key) {
            return condition.answer(try await intercept(request.unconditional, next: next))
        }
        let now = now()
        let (found, stored, decision, removals) = await decide(key, request, at: now)
        let reason: Outcome.Reason
        switch decision {
        case .answer(let stored, let outcome):
            if outcome == .stale(.whileRevalidating) { revalidate(stored, request, next, key, removals) }
            var response = try stored.answer(to: request, at: now, outcome)
            if NetworkResponse.isRedirect(stored.status) { request.call?.recordStoredRedirect(of: key.url) }
            storage.count(outcome, response.length(of: stored))
            response.request?.report(
                outcome == .hit ? .fresh : .stale, outcome.text(of: stored, at: now), with: response)
            response.removeIfDownloadIsRefused(request, key, storage)
            return response
        case .refuse: throw Self.notCached
        case .load(let why, let text):
            if request.options.cacheLifetime != .none { request.report(.cache(text)) }
            reason = why == .notStored ? await missReason(key, found) : why
        }
        var response = try await perform(
            CacheLoad(
                key: key, stored: stored, found: found, removals: removals, request: request, next: next, reason: reason
            ))
        response.removeIfDownloadIsRefused(request, key, storage)
        return response
    }

    private func missReason(_ key: CacheKey, _ found: StoredResponse?) async -> Outcome.Reason {
        if let found { return found.part == nil ? .requested : .incomplete }
        return await storage.contains(key) ? .otherVariant : .notStored
    }

    static let notCached = NetworkError(.notCached, reason: "it is cache-only, so it was not sent")
}
