@testable import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// A router over a cache and a stub, with a wall clock that only the test advances.
struct CacheFixture: Sendable {
    let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
    let session: StubSession
    let cache: ResponseCache
    let router: Router<URLEndPoint>

    init(_ session: StubSession) {
        self.init(session) { ResponseCache(now: $0) }
    }

    init(_ session: StubSession, _ makeCache: (@escaping @Sendable () -> Date) throws -> ResponseCache) rethrows {
        self.session = session
        cache = try makeCache { [date] in date.now }
        router = Router(session: session, exchangeInterceptors: [cache])
    }

    /// Creates a fixture with one identity for all requests, and with a cache on disk alone if there is a folder.
    init(_ session: StubSession, in folder: URL?) throws {
        try self.init(session) { now in
            try folder.map { try ResponseCache(folder: $0, memoryLimit: 0, identity: { _ in "me" }, now: now) }
                ?? ResponseCache(identity: { _ in "me" }, now: now)
        }
    }

    /// Creates a fixture whose session answers each exchange with its number.
    init(headers: HTTPHeaders = [:], status: Int = 200) {
        self.init(.counting(headers, status))
    }

    init(
        headers: HTTPHeaders = [:], _ makeCache: (@escaping @Sendable () -> Date) throws -> ResponseCache
    ) rethrows {
        try self.init(.counting(headers, 200), makeCache)
    }

    /// Returns the text of the response to a GET.
    func get(
        _ url: String = "https://api.example.com/friends", _ lifetime: ResponseCache.Lifetime = .time(.seconds(60)),
        headers: HTTPHeaders = [:], _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> String {
        try await response(url, lifetime, headers: headers, change).text
    }

    func response(
        _ url: String = "https://api.example.com/friends", _ lifetime: ResponseCache.Lifetime = .time(.seconds(60)),
        method: HTTPMethod = .get, headers: HTTPHeaders = [:],
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        let options = RequestOptions {
            $0.cacheLifetime = lifetime
            change(&$0)
        }
        guard let url = URL(string: url) else { throw NetworkError(.missingURL) }
        return try await router.response(for: URLEndPoint(method, url, headers: headers, options: options))
    }
}

extension CacheFixture {
    /// Runs a closure with a load of the URL that has found nothing.
    func withLoad(of url: URL?, _ body: @escaping @Sendable (CacheLoad) async throws -> Void) async throws {
        let steps = CacheStep { request, next in
            let key = try #require(CacheKey(request, identity: nil))
            try await body(CacheLoad(key: key, removals: nil, request: request, next: next, reason: .notStored))
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [steps])
        guard let url else { throw NetworkError(.missingURL) }
        _ = try await router.response(for: URLEndPoint(.get, url))
    }
}

extension StubSession {
    /// Creates a session that answers each exchange with its number.
    static func counting(_ headers: HTTPHeaders, _ status: Int) -> StubSession {
        let count = Deliveries<Void>()
        return StubSession { _ in
            count.add(())
            return .text("\(count.all.count)", statusCode: status, headers: headers)
        }
    }
}

/// An exchange interceptor that runs a closure.
struct CacheStep: ExchangeInterceptor {
    let body: @Sendable (NetworkRequest, Next) async throws -> NetworkResponse

    /// Returns an interceptor that changes each request.
    static func changing(_ change: @escaping @Sendable (inout NetworkRequest) -> Void) -> CacheStep {
        CacheStep { request, next in
            var request = request
            change(&request)
            return try await next(request)
        }
    }

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await body(request, next)
    }
}

/// Overwrites bytes of the only stored response in a folder, in its file.
func damageStoredFile(in folder: URL, at offset: UInt64) throws {
    let handle = try FileHandle(forUpdating: folder.appendingPathComponent(try #require(names(in: folder).first)))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data("damage".utf8))
    try handle.close()
}

extension CacheKey {
    /// Creates the key of a GET.
    convenience init(_ url: String, partition: String? = nil, identity: String = "") throws {
        let url = try #require(URL(string: url))
        var request = NetworkRequest(.get, url)
        request.options.partition = partition
        self.init(request, identity: { _ in identity })!
    }
}
