import SwitchboardPlatform
import Foundation
import Switchboard

/// Answers GETs from what it stored, in memory and on disk.
///
/// ```swift
/// let cache = ResponseCache()
/// let manager = NetworkManager(interceptors: [login], exchangeInterceptors: [cache])
/// ```
///
/// An endpoint says for how long with `RequestOptions.cacheLifetime`; one that says nothing gets what the server says
/// ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). A call asks for a new one with `RequestOptions.refreshing`.
/// When a stored response is too old and has an `ETag` or a `Last-Modified`, the server is asked whether it is still right,
/// and a 304 makes it new. `NetworkResponse.cacheAge` says whether a response was stored, and how old it is.
///
/// Stored are 2xx responses to GETs, except 206, those with `no-store`, and those that stream or go into a file; without their
/// `Set-Cookie`. Found again are those of the same URL, the same `RequestOptions.partition` (a manager's environment) and the
/// same header fields, credentials and cookies among them; what changes with each request, such as a signature or the fields of
/// `Digest`, makes that nothing is found. A request of another method than GET, HEAD, OPTIONS and TRACE that is not refused
/// removes what is stored for its path.
///
/// **Where to list it.** Last of the exchange interceptors, behind what adds credentials. It stores no response to a request
/// that changed behind it, or that a login behind it decided about: nobody gets another's answer, wherever it is listed. With
/// `identity`, which says whose request it is, it may stand first of the interceptors, and answers without a limiter, a circuit
/// breaker or a login behind it; it takes the identity for granted. A response whose `Vary` names a field that was added behind
/// it is not stored there.
///
/// `Router.reset()` empties it.
public final class ResponseCache: Interceptor, ExchangeInterceptor, Resettable {
    /// Whose request it is: an account's name for instance, not a token, which changes. Nil for nobody's.
    public typealias Identity = @Sendable (_ request: NetworkRequest) -> String?

    let shelf: CacheShelf
    private let identity: Identity?
    /// Names of fields, in lower case, in which requests for the same response may differ.
    private static let ignored: Set<String> = [
        "cache-control", "pragma", "user-agent", "x-request-id", "x-correlation-id", "traceparent", "tracestate",
    ]
    private let now: @Sendable () -> Date

    /// Makes a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: In bytes. What is larger is not stored; what was not asked for longest makes room.
    ///   - identity: Whose request it is, in place of its header fields. Nil, the default, for all its header
    ///     fields.
    ///   - now: The time.
    public init(
        memoryLimit: Int = 20 << 20, identity: Identity? = nil, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        shelf = CacheShelf(MemoryCache(limit: max(0, memoryLimit)), nil)
        self.identity = identity
        self.now = now
    }

    /// Makes a cache in memory and on disk, which later runs of the program find again.
    ///
    /// The files can be read by their owner alone, and are not encrypted: they hold URLs with their parameters, and header fields
    /// and bodies of responses, but no header field of a request. One folder is for one cache of one process at a time.
    ///
    /// - Parameters:
    ///   - folder: Where the files are. Made when it is missing.
    ///   - diskLimit: In bytes. What is larger is not stored; what was not read longest makes room.
    ///   - memoryLimit: In bytes.
    ///   - identity: Whose request it is, in place of its header fields.
    ///   - now: The time.
    /// - Throws: `NetworkError.Code.cannotWriteFile` when there can be no such folder,
    ///   `NetworkError.Code.unsupported` where the system has no hash function for the names of the files.
    public init(
        folder: URL, diskLimit: Int = 100 << 20, memoryLimit: Int = 20 << 20, identity: Identity? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(NetworkError) {
        let disk = try DiskCache(folder, limit: max(0, diskLimit))
        shelf = CacheShelf(MemoryCache(limit: max(0, memoryLimit)), disk)
        self.identity = identity
        self.now = now
    }

    /// Answers from what is stored, or sends the request and stores what comes.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard let key = CacheKey(request, identity: identity, ignoring: Self.ignored) else {
            return try await pass(request, next)
        }
        let stored = await shelf.find(key, request)
        switch decision(on: stored, request) {
        case .answer(let stored, let why):
            request.report(.cache(why))
            return stored.answer(to: request, at: now())
        case .refuse: throw Self.notCached
        case .load(let why):
            if request.options.cacheLifetime != .none { request.report(.cache(why)) }
        }
        let load = await shelf.begin(key)
        do {
            return try await self.load(stored, request, next, load)
        } catch {
            await shelf.end(load)
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
        // The request's own wishes ([RFC 9111 §5.2.1](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1)).
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

    /// Asks the server, and ends the load.
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
            await shelf.end(load)
            return stale
        }
    }

    /// Asks whether what is stored is still right; whatever the server answers is the answer, and ends the load. Nil when it has
    /// no validator, or the server speaks of another response.
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
            await shelf.end(load, isReplaced: true)
        } else if CacheControl(request.headers).isNoStore {
            await shelf.end(load)
        } else if let fault = await shelf.store(confirmed, at: load) {
            request.report(.cache(fault))
        }
        return confirmed.answer(to: request, at: now())
    }

    /// Ends a load with what the server answered: stores it, or puts what is stored in its place.
    private func settle(
        _ response: NetworkResponse, _ stored: StoredResponse?, _ request: NetworkRequest, asked: Date, _ load: Int
    ) async -> NetworkResponse {
        if let stored, [500, 502, 503, 504].contains(response.statusCode),
            let stale = substitute(stored, request, "HTTP \(response.statusCode)")
        {
            await shelf.end(load)
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
            // What a server says in earnest takes the place of what is stored; a failure that may pass does not.
            let isPassing = response.statusCode >= 500 || [304, 408, 429].contains(response.statusCode)
            return await shelf.end(load, isReplaced: lifetime != .none && !isPassing)
        }
        if let fault = await shelf.store(new, at: load) { return request.report(.cache(fault)) }
        request.report(.cache("stored"))
    }

    /// Whether a response is the answer to what the cache has seen: without an identity to exactly that, with one as far as
    /// `Vary` says. Of one that does not say what it answers, neither.
    private func isOurs(_ response: NetworkResponse, to request: NetworkRequest) -> Bool {
        // Nor one that another origin had a say in: found again, that would be forgotten.
        guard let sent = response.request, !response.isShared, response.isFromOrigin(of: request) else { return false }
        guard identity == nil else {
            return StoredResponse.variant(response.headers, of: sent)
                == StoredResponse.variant(response.headers, of: request)
        }
        func fields(_ request: NetworkRequest) -> [String] {
            request.allHeaders.filter { !$0.name.lowercased().hasPrefix("if-") }
                .map { "\($0.name.lowercased()): \($0.value)" }.sorted()
        }
        // Nor is it, where a login behind the cache decides: it may be somebody's next time.
        return sent.isSignInDecided == request.isSignInDecided && fields(sent) == fields(request)
            && sent.url?.asCacheKey == request.url?.asCacheKey
    }

    /// Sends what a cache does not answer, and removes what it makes wrong ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    private func pass(_ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        do {
            let response = try await next(request)
            await removeChanged(by: request, response.statusCode)
            return response
        } catch let error as NetworkError {
            // The head had come, and says that it was done.
            if let status = error.status { await removeChanged(by: request, status) }
            throw error
        }
    }

    private func removeChanged(by request: NetworkRequest, _ status: Int) async {
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        guard !isSafe, (200..<400).contains(status), let url = request.url else { return }
        let own = Self.place(url.asCacheKey)
        let partition = request.options.partition ?? ""
        await shelf.remove { $1 == partition && Self.place($0) == own }
    }

    /// A URL without its query.
    static func place(_ url: String) -> Substring {
        url.prefix { $0 != "?" && $0 != "#" }
    }
}

extension URLRequest.CachePolicy {
    /// Whether what is stored does not matter.
    fileprivate var reloads: Bool {
        self == .reloadIgnoringLocalCacheData || self == .reloadIgnoringLocalAndRemoteCacheData
    }
}

extension NetworkError {
    /// Whether the server did not answer, for a reason of the network's.
    fileprivate var isAbsence: Bool {
        code.isKind(of: .cannotConnect) || code == .timedOut || code == .truncatedBody || code == .circuitOpen
    }
}
