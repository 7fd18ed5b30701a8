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
/// `RequestOptions.cacheLifetime` sets how long an endpoint's responses stay fresh. By default, the server's header
/// fields decide ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). `RequestOptions.refreshing` reloads for one
/// call. The cache revalidates a stale response that has an `ETag` or a `Last-Modified`, and a 304 makes it fresh
/// again. `NetworkResponse.cacheAge` states the age of a response that came from the cache.
///
/// The cache stores 2xx responses to GET requests, without their `Set-Cookie`. It does not store a 206, a response with
/// `no-store`, or one that streams or downloads into a file. A cache hit needs the same URL, the same
/// `RequestOptions.partition` (a manager's environment) and the same header fields, including credentials and cookies.
/// Fields that change with each request, such as a signature or the `Authorization` of `Digest`, prevent cache hits. A
/// request with a method other than GET, HEAD, OPTIONS or TRACE removes the stored responses of its path, unless the
/// server rejects it.
///
/// **Where to list it.** List the cache last of the exchange interceptors, behind interceptors that add credentials. It
/// never stores a response when an interceptor behind it changed the request or when a login behind it decided about
/// the request. So no user receives the response of another, wherever the cache is listed.
///
/// With `identity`, the cache may be the first of the interceptors. It then answers before a limiter, a circuit breaker
/// or a login, and trusts `identity`: equal identities share responses. It does not store a response whose `Vary` names
/// a field that an interceptor behind it added.
///
/// `Router.reset()` removes all stored responses.
public final class ResponseCache: Interceptor, ExchangeInterceptor, Resettable {
    /// Returns the identity that a request belongs to: an account's name for example, not a token, because tokens
    /// change. Nil for a request without an identity.
    public typealias Identity = @Sendable (_ request: NetworkRequest) -> String?

    let storage: CacheStorage
    private let identity: Identity?
    /// The names of fields, in lower case, that may differ between requests for the same response.
    private static let ignored: Set<String> = [
        "cache-control", "pragma", "user-agent", "x-request-id", "x-correlation-id", "traceparent", "tracestate",
    ]
    private let now: @Sendable () -> Date

    /// Creates a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: The largest total size, in bytes. The cache does not store a larger response, and evicts the
    ///     least recently used ones.
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
    /// fields and bodies of responses, but no header field of a request. Use a folder for only one cache of one process
    /// at a time.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files. Created if missing.
    ///   - diskLimit: The largest total size on disk, in bytes. The cache does not store a larger response, and evicts
    ///     the least recently used ones.
    ///   - memoryLimit: The largest total size in memory, in bytes.
    ///   - identity: Returns the identity of a request, which replaces its header fields in the comparison. Nil, the
    ///     default, compares the header fields.
    ///   - now: Returns the current time.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when the folder cannot be created, `NetworkError.Code.unsupported`
    ///   on a system without a hash function for the file names.
    public init(
        folder: URL, diskLimit: Int = 100 << 20, memoryLimit: Int = 20 << 20, identity: Identity? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(NetworkError) {
        let disk = try DiskCache(folder, limit: max(0, diskLimit))
        storage = CacheStorage(MemoryCache(limit: max(0, memoryLimit)), disk)
        self.identity = identity
        self.now = now
    }

    /// Answers with the stored response, or sends the request and stores its response.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = CacheKey(request, identity: identity, ignoring: Self.ignored) else {
            return try await pass(request, next)
        }
        let stored = await storage.find(key, request)
        switch decision(on: stored, request) {
        case .answer(let stored, let why):
            request.report(.cache(why))
            return stored.answer(to: request, at: now())
        case .refuse: throw Self.notCached
        case .load(let why):
            if request.options.cacheLifetime != .none { request.report(.cache(why)) }
        }
        let load = await storage.begin(key)
        do {
            return try await self.load(stored, request, next, load)
        } catch {
            await storage.end(load)
            throw error
        }
    }

    // MARK: Deciding

    private enum Decision {
        case answer(StoredResponse, String)
        case load(String)
        case refuse
    }

    private func decision(on stored: StoredResponse?, _ request: NetworkRequest) -> Decision {
        let control = CacheControl(request.headers)
        let (policy, lifetime) = (request.options.cachePolicy, request.options.cacheLifetime)
        guard let stored, lifetime != .none else {
            return control.isOnlyIfCached || policy == .returnCacheDataDontLoad ? .refuse : .load("miss")
        }
        let now = now()
        let staleness = stored.staleness(for: lifetime, at: now)
        let age = "\(stored.age(at: now).components.seconds) s old"
        switch policy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: return .answer(stored, "hit, \(age)")
        case _ where policy.reloads: return .load("to be refreshed")
        case .reloadRevalidatingCacheData: return .load("to be confirmed")
        default: break
        }
        // The request's own directives ([RFC 9111 §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)).
        let isTooOld = control.maxAge.map { $0 == 0 || stored.age(at: now).seconds > $0 } ?? false
        let later = stored.staleness(for: lifetime, at: now.addingTimeInterval(control.minFresh ?? 0)) ?? 0
        let isWanted = !isTooOld && (control.minFresh == nil || later <= 0)
        if control.isOnlyIfCached { return staleness == nil && isWanted ? .answer(stored, "hit, \(age)") : .refuse }
        if control.isNoCache || !isWanted { return .load("to be confirmed") }
        return staleness == nil ? .answer(stored, "hit, \(age)") : .load("too old, \(age)")
    }

    private static let notCached = NetworkError(
        .notCached, reason: "it is cache-only, so it was not sent")

    // MARK: Loading

    /// Sends the request and ends the load.
    private func load(
        _ stored: StoredResponse?, _ request: NetworkRequest, _ next: Next, _ load: Int
    ) async throws -> NetworkResponse {
        let options = request.options
        let stored = options.cachePolicy.reloads || options.cacheLifetime == .none ? nil : stored
        do {
            if let stored, let response = try await confirm(stored, request, next, load) { return response }
            let asked = now()
            return await settle(try await next(request), stored, request, asked: asked, load)
        } catch let error as NetworkError where error.isAbsence {
            guard let stored, let stale = substitute(stored, request, "\(error.code)") else { throw error }
            await storage.end(load)
            return stale
        }
    }

    /// Revalidates the stored response, ends the load and returns the server's answer. Nil when the stored response has
    /// no validator, or when the 304 is about another response.
    private func confirm(
        _ stored: StoredResponse, _ request: NetworkRequest, _ next: Next, _ load: Int
    ) async throws -> NetworkResponse? {
        let validators = stored.validators
        guard !validators.isEmpty, stored.url == nil || stored.url?.asCacheKey == request.url?.asCacheKey else {
            return nil
        }
        var conditional = request
        conditional.headers.merge(validators)
        let asked = now()
        let response = try await next(conditional)
        guard response.statusCode == 304 else { return await settle(response, stored, request, asked: asked, load) }
        guard stored.isMeant(by: response) else {
            request.report(.cache("the 304 does not match the stored response"))
            return nil
        }
        let confirmed = stored.confirmed(by: response, asked: asked, at: now())
        request.report(.cache("still right"))
        if CacheControl(response.headers).isNoStore || !isOurs(response, to: request) {
            await storage.end(load, isReplaced: true)
        } else if CacheControl(request.headers).isNoStore {
            await storage.end(load)
        } else if let fault = await storage.store(confirmed, at: load) {
            request.report(.cache(fault))
        }
        return confirmed.answer(to: request, at: now())
    }

    /// Ends a load: stores the server's response, or returns the stored one in its place when the server failed.
    private func settle(
        _ response: NetworkResponse, _ stored: StoredResponse?, _ request: NetworkRequest, asked: Date, _ load: Int
    ) async -> NetworkResponse {
        if let stored, [500, 502, 503, 504].contains(response.statusCode),
            let stale = substitute(stored, request, "HTTP \(response.statusCode)")
        {
            await storage.end(load)
            return stale
        }
        await store(response, of: request, asked: asked, load)
        return response
    }

    private func substitute(_ stored: StoredResponse, _ request: NetworkRequest, _ why: String) -> NetworkResponse? {
        let now = now()
        guard let seconds = stored.staleness(for: request.options.cacheLifetime, at: now),
            stored.isUsable(staleFor: seconds, request)
        else { return nil }
        request.report(.cache("hit, \(stored.age(at: now).components.seconds) s old, in place of \(why)"))
        return stored.answer(to: request, at: now)
    }

    private func store(_ response: NetworkResponse, of request: NetworkRequest, asked: Date, _ load: Int) async {
        let lifetime = request.options.cacheLifetime
        let new = StoredResponse(response, to: request, for: lifetime, asked: asked, at: now())
        guard let new, isOurs(response, to: request) else {
            if new != nil { request.report(.cache("not stored: the request was changed behind the cache")) }
            // A permanent answer removes the stored response. A temporary failure does not.
            let isPassing = response.statusCode >= 500 || [304, 408, 429].contains(response.statusCode)
            return await storage.end(load, isReplaced: lifetime != .none && !isPassing)
        }
        if let fault = await storage.store(new, at: load) { return request.report(.cache(fault)) }
        request.report(.cache("stored"))
    }

    /// Returns whether a response belongs to the request that the cache received. Without an identity, the sent request
    /// must be the same; with one, only the fields that `Vary` names must be the same. False when the response does not
    /// tell which request was sent.
    private func isOurs(_ response: NetworkResponse, to request: NetworkRequest) -> Bool {
        // Rejects a response that involves another origin: a cache hit would not show that.
        guard let sent = response.request, !response.isShared, response.isFromOrigin(of: request) else { return false }
        guard identity == nil else {
            return StoredResponse.variant(response.headers, of: sent)
                == StoredResponse.variant(response.headers, of: request)
        }
        func fields(_ request: NetworkRequest) -> [String] {
            request.allHeaders.filter { !$0.name.lowercased().hasPrefix("if-") }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        }
        // A login behind the cache may send credentials with the next equal request.
        return sent.isSignInDecided == request.isSignInDecided && fields(sent) == fields(request)
            && sent.url?.asCacheKey == request.url?.asCacheKey
    }

    /// Sends a request that the cache does not handle, and removes stored responses that it invalidates ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    private func pass(_ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        do {
            let response = try await next(request)
            await removeChanged(by: request, response.statusCode)
            return response
        } catch let error as NetworkError {
            // The response's head arrived: its status says that the server performed the request.
            if let status = error.status { await removeChanged(by: request, status) }
            throw error
        }
    }

    private func removeChanged(by request: NetworkRequest, _ status: Int) async {
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        guard !isSafe, (200..<400).contains(status), let url = request.url else { return }
        let own = Self.place(url.asCacheKey)
        let partition = request.options.partition ?? ""
        await storage.remove { $1 == partition && Self.place($0) == own }
    }

    /// Returns the URL without its query.
    static func place(_ url: String) -> Substring {
        url.prefix { $0 != "?" && $0 != "#" }
    }
}

extension URLRequest.CachePolicy {
    /// Whether the policy ignores stored responses.
    fileprivate var reloads: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}

extension NetworkError {
    /// Whether the server did not answer because of a network failure.
    fileprivate var isAbsence: Bool {
        code.isKind(of: .cannotConnect) || code == .timedOut || code == .truncatedBody || code == .circuitOpen
    }
}
