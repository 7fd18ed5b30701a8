import Foundation

/// Answers GETs from what it stored, in memory and on disk.
///
/// ```swift
/// let cache = ResponseCache()
/// let manager = NetworkManager(interceptors: [login, cache])
/// ```
///
/// An endpoint says for how long with ``RequestOptions/cacheLifetime``; one that says nothing gets what the server says
/// ([RFC 9111](https://www.rfc-editor.org/rfc/rfc9111)). A call asks for a new one with ``RequestOptions/refreshing``.
/// When a stored response is too old and has an `ETag` or a `Last-Modified`, the server is asked whether it is still right,
/// and a 304 makes it new. ``NetworkResponse/cacheAge`` says whether a response was stored, and how old it is.
///
/// Stored are 2xx responses to GETs, except 206, those with `no-store`, and those that stream or go into a file. Found again
/// are those of the same URL, the same ``RequestOptions/partition`` (a manager's environment), the same credentials and the
/// same values of what `Vary` names. A request of another method than GET, HEAD, OPTIONS and TRACE that succeeds removes what
/// is stored for its path.
///
/// List it behind what adds credentials. In front of it the cache cannot know whose response it is: then nothing of what was
/// sent with credentials is stored, and ``EventMonitor``s are told why. `identity` lifts that: what it returns is whose
/// request it is.
///
/// ``Router/reset()`` empties it.
public final class ResponseCache: Interceptor, Resettable {
    /// Whose request it is: an account's name for instance. Nil for nobody's.
    public typealias Identity = @Sendable (_ request: NetworkRequest) -> String?

    let shelf: CacheShelf
    private let identity: Identity?
    private let now: @Sendable () -> Date

    /// Makes a cache in memory.
    ///
    /// - Parameters:
    ///   - memoryLimit: In bytes. What is larger is not stored; what was not asked for longest makes room.
    ///   - identity: Whose request it is, in place of its credentials. Nil for the credentials that it carries when it
    ///     comes by.
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
    /// The files can be read by their owner alone. The bodies are not encrypted; credentials are not in them, a URL with its
    /// parameters is. One folder is for one process at a time.
    ///
    /// - Parameters:
    ///   - folder: Where the files are. Made when it is missing.
    ///   - diskLimit: In bytes. What is larger is not stored; what was not read longest makes room.
    ///   - memoryLimit: In bytes.
    ///   - identity: Whose request it is, in place of its credentials.
    ///   - now: The time.
    /// - Throws: ``NetworkError/Code/cannotWriteFile`` when there can be no such folder,
    ///   ``NetworkError/Code/unsupported`` where the system has no hash function for the names of the files.
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
        guard let key = CacheKey(request, identity: identity) else { return try await pass(request, next) }
        let lifetime = request.options.cacheLifetime
        let (stored, epoch) = await shelf.find(key, request)
        switch decision(on: stored, request) {
        case .answer(let stored, let why):
            request.report(.cache(why))
            return stored.answer(to: request, at: now())
        case .refuse: throw Self.notCached.attributed(to: request)
        case .load(let why):
            if lifetime != .none { request.report(.cache(why)) }
        }
        guard let stored else {
            let response = try await next(request)
            await store(response, of: request, key, epoch)
            return response
        }
        return try await reload(stored, request, next, key, epoch)
    }

    /// Says whether it would answer.
    public func plan(for request: inout NetworkRequest) async -> [String] {
        guard let key = CacheKey(request, identity: identity) else { return ["has nothing to do with it"] }
        let lifetime = request.options.cacheLifetime
        let (stored, _) = await shelf.find(key, request)
        switch decision(on: stored, request) {
        case .answer(_, let why): return ["answers: \(why)"]
        case .refuse: return ["sends nothing, and ends the call as notCached: nothing is stored"]
        case .load(let why): return [lifetime == .none ? "leaves it alone" : "sends it on: \(why)"]
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
        let age = "\(stored.age(at: now).secondsText) old"
        switch policy {
        case .returnCacheDataElseLoad, .returnCacheDataDontLoad: return .answer(stored, "hit, \(age)")
        case .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData: return .load("to be refreshed")
        case .reloadRevalidatingCacheData: return .load("to be confirmed")
        default: break
        }
        if control.isOnlyIfCached { return staleness == nil ? .answer(stored, "hit, \(age)") : .refuse }
        if control.isNoCache { return .load("to be confirmed") }
        return staleness == nil ? .answer(stored, "hit, \(age)") : .load("too old, \(age)")
    }

    private static let notCached = NetworkError(
        .notCached, reason: "it asked for what is stored alone, so it was not sent")

    // MARK: Loading

    /// Asks again for what is stored, but not to be the answer as it is.
    private func reload(
        _ stored: StoredResponse, _ request: NetworkRequest, _ next: Next, _ key: CacheKey, _ epoch: Int
    ) async throws -> NetworkResponse {
        var conditional = request
        let policy = request.options.cachePolicy
        let isWhole = policy == .reloadIgnoringLocalCacheData || policy == .reloadIgnoringLocalAndRemoteCacheData
        if !isWhole, request.options.cacheLifetime != .none { conditional.headers.merge(stored.validators) }
        do {
            let response = try await next(conditional)
            if response.statusCode == 304, conditional.headers != request.headers {
                let confirmed = stored.confirmed(by: response, at: now())
                request.report(.cache("still right"))
                if let fault = await shelf.store(confirmed, key, epoch: epoch) { request.report(.cache(fault)) }
                return confirmed.answer(to: request, at: now())
            }
            if !isWhole, [500, 502, 503, 504].contains(response.statusCode),
                let stale = substitute(stored, request, "HTTP \(response.statusCode)")
            {
                return stale
            }
            await store(response, of: request, key, epoch)
            return response
        } catch let error as NetworkError where error.isAbsence && !isWhole {
            guard let stale = substitute(stored, request, "\(error.code)") else { throw error }
            return stale
        }
    }

    private func substitute(_ stored: StoredResponse, _ request: NetworkRequest, _ why: String) -> NetworkResponse? {
        let now = now()
        guard let seconds = stored.staleness(for: request.options.cacheLifetime, at: now),
            stored.isUsable(staleFor: seconds, request)
        else { return nil }
        request.report(.cache("hit, \(stored.age(at: now).secondsText) old, in place of \(why)"))
        return stored.answer(to: request, at: now)
    }

    private func store(_ response: NetworkResponse, of request: NetworkRequest, _ key: CacheKey, _ epoch: Int) async {
        guard let new = StoredResponse(response, to: request, for: request.options.cacheLifetime, at: now()) else {
            return
        }
        if identity == nil, let sent = response.request, request.lacksCredentials(of: sent) {
            return request.report(.cache("not stored: the credentials were added behind the cache"))
        }
        if let fault = await shelf.store(new, key, epoch: epoch) { return request.report(.cache(fault)) }
        request.report(.cache("stored"))
    }

    /// Sends what a cache does not answer, and removes what it makes wrong ([RFC 9111
    /// §4.4](https://www.rfc-editor.org/rfc/rfc9111#section-4.4)).
    private func pass(_ request: NetworkRequest, _ next: Next) async throws -> NetworkResponse {
        let response = try await next(request)
        let isSafe = [HTTPMethod.get, .head, .options, .trace].contains(request.method)
        guard !isSafe, (200..<400).contains(response.statusCode), let url = request.url else { return response }
        let own = Self.place(url.absoluteString)
        let partition = request.options.partition ?? ""
        await shelf.remove { $1 == partition && Self.place($0) == own }
        return response
    }

    /// A URL without its query.
    static func place(_ url: String) -> Substring {
        url.prefix { $0 != "?" && $0 != "#" }
    }
}

extension NetworkError {
    /// Whether the server did not answer, for a reason of the network's.
    fileprivate var isAbsence: Bool {
        code.isKind(of: .cannotConnect) || code == .timedOut || code == .truncatedBody || code == .circuitOpen
    }
}
