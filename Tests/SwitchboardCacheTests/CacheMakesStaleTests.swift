import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// `RequestOptions.makesStale` removes stored responses after a successful call.
@Suite(.timeLimit(.minutes(10)))
struct CacheMakesStaleTests {
    private static let urls = [
        "https://h/todos?page=1", "https://h/todos/7", "https://other/lists/todos", "https://h/a",
    ]

    /// Returns the URLs that a call removes.
    private func removed(
        _ targets: [ResponseCache.Target], by method: HTTPMethod = .post, _ status: Int = 200, isOnDisk: Bool = false,
        change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> [String] {
        try await withFolder { folder in
            let session = StubSession { $0.path == "/call" ? .status(status) : .text("x") }
            let fixture = try CacheFixture(session) {
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: $0) : ResponseCache(now: $0)
            }
            for url in Self.urls {
                _ = try await fixture.get(url) { $0.cacheTags = url.contains("7") ? ["seven"] : [] }
            }
            _ = try? await fixture.response("https://h/call", method: method) {
                $0.makesStale = targets
                change(&$0)
            }
            var removed: [String] = []
            for url in Self.urls where try await fixture.response(url).cacheAge == nil { removed.append(url) }
            return removed
        }
    }

    @Test("a successful call removes by tag, path and URL", arguments: [false, true])
    func targets(isOnDisk: Bool) async throws {
        let urls = Self.urls
        #expect(try await removed([.tag("seven")], isOnDisk: isOnDisk) == [urls[1]])
        #expect(try await removed([.path("todos")], isOnDisk: isOnDisk) == Array(urls[0...2]))
        #expect(try await removed([.url(URL(text: "https://H/a#x"))], isOnDisk: isOnDisk) == [urls[3]])
        #expect(try await removed([.url(URL(text: "https://h/todos"))], isOnDisk: isOnDisk) == [])
        #expect(try await removed([.path("a"), .tag("seven")], isOnDisk: isOnDisk) == [urls[1], urls[3]])
        #expect(try await removed([], isOnDisk: isOnDisk) == [])
    }

    @Test(
        "a call of any method makes stale, if the server reports success",
        arguments: [HTTPMethod.get, .head, .options, .post, .delete],
        [(200, true), (204, true), (399, true), (404, false), (503, false)])
    func methods(method: HTTPMethod, status: (code: Int, isSuccess: Bool)) async throws {
        #expect(try await removed([.path("a")], by: method, status.code) == (status.isSuccess ? [Self.urls[3]] : []))
    }

    @Test("a truncated success makes stale too", arguments: [HTTPMethod.get, .put])
    func truncated(method: HTTPMethod) async throws {
        var error = NetworkError(.truncatedBody)
        error.statusCode = 200
        let session = AdHocSession { [error] request in
            guard request.path != "/call" else { throw error }
            return NetworkResponse(statusCode: 200, body: Data("x".utf8), url: request.url)
        }
        let cache = ResponseCache()
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        let stored = RequestOptions { $0.cacheLifetime = .unlimited }
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h/a"), options: stored))
        let options = RequestOptions { $0.makesStale = [.path("a")] }
        _ = try? await router.response(for: URLEndPoint(method, URL(text: "https://h/call"), options: options))
        #expect(await cache.usage.count == 0)
    }

    @Test("a response that an interceptor replaced makes stale too", arguments: [HTTPMethod.get, .put])
    func replaced(method: HTTPMethod) async throws {
        let cache = ResponseCache()
        let replacement = CacheStep { request, next in
            let response = try await next(request)
            guard request.path == "/call" else { return response }
            return NetworkResponse(statusCode: response.statusCode, body: response.body, url: request.url)
        }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .text("x") }, exchangeInterceptors: [cache, replacement])
        let stored = RequestOptions { $0.cacheLifetime = .unlimited }
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h/a"), options: stored))
        let options = RequestOptions { $0.makesStale = [.path("a")] }
        _ = try await router.response(for: URLEndPoint(method, URL(text: "https://h/call"), options: options))
        #expect(await cache.usage.count == 0)
    }

    @Test("an answer from the cache makes nothing stale, and a 304 does")
    func cached() async throws {
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let fixture = CacheFixture(
            StubSession { $0.headers["If-None-Match"] == nil ? .text("x", headers: headers) : .status(304) })
        for url in ["https://h/a", "https://h/call"] { _ = try await fixture.get(url, .server) }
        let call = { try await fixture.response("https://h/call", .server) { $0.makesStale = [.path("a")] } }
        #expect(try await call().cacheOutcome == .hit)
        #expect(await fixture.cache.usage.count == 2)
        fixture.date.advance(by: 61)
        #expect(try await call().cacheOutcome == .validated(.expired))
        #expect(await fixture.cache.usage.count == 1)
    }

    @Test("a stale answer instead of a failure makes nothing stale")
    func failed() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
        let fixture = CacheFixture(
            StubSession(.text("x", headers: headers), .text("x", headers: headers), .status(503)))
        for url in ["https://h/a", "https://h/call"] { _ = try await fixture.get(url, .server) }
        fixture.date.advance(by: 61)
        let response = try await fixture.response("https://h/call", .server) { $0.makesStale = [.path("a")] }
        #expect(response.cacheOutcome == .stale(.serverFailed))
        #expect(await fixture.cache.usage.count == 2)
    }

    @Test("a call makes stale in its environment only, for every identity")
    func environment() async throws {
        let cache = ResponseCache(identity: { $0.headers["X-User"] })
        let session = StubSession { _ in .text("x") }
        let manager = NetworkManager(environment: .qa, session: session, interceptors: [cache])
        let load = { (user: String) in
            try await manager.response(
                for: URLEndPoint(
                    .get, URL(text: "https://h/a"), headers: ["X-User": user],
                    options: RequestOptions { $0.cacheLifetime = .unlimited })
            ).cacheOutcome
        }
        for environment in [NetworkEnvironment.qa, .production] {
            manager.environment = environment
            for user in ["anna", "ben"] { #expect(try await load(user) == .miss(.notStored)) }
        }
        let options = RequestOptions { $0.makesStale = [.path("a"), .url(URL(text: "https://h/a")), .tag("x")] }
        _ = try await manager.response(for: URLEndPoint(.post, URL(text: "https://h/call"), options: options))
        for user in ["anna", "ben"] { #expect(try await load(user) == .miss(.notStored)) }
        manager.environment = .qa
        for user in ["anna", "ben"] { #expect(try await load(user) == .hit) }
    }

    @Test("a load in flight of what became stale is not stored")
    func meanwhile() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            if request.method == .get {
                begun.add(())
                if begun.all.count == 1 { try await gate.wait() }
            }
            return NetworkResponse(statusCode: 200, body: Data("\(begun.all.count)".utf8), url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let options = RequestOptions {
            $0.cacheLifetime = .unlimited
            $0.cacheTags = ["todos"]
        }
        let todos = URLEndPoint(.get, URL(text: "https://h/todos"), options: options)
        let load = Task { try await router.response(for: todos) }
        _ = try await begun.first()
        let change = RequestOptions { $0.makesStale = [.tag("todos")] }
        _ = try await router.response(for: URLEndPoint(.post, URL(text: "https://h/call"), options: change))
        gate.open()
        _ = try await load.value
        #expect(try await router.response(for: todos).cacheOutcome == .miss(.notStored))
        #expect(try await router.response(for: todos).cacheOutcome == .hit)
    }
}
