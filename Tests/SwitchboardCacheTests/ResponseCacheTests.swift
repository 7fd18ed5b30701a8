import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ResponseCacheTests {
    @Test("a hit has the URL of its own request, not that of the first one")
    func ownURL() async throws {
        let fixture = CacheFixture()
        for url in ["https://h/a#one", "https://h/a#two", "https://H/a"] {
            #expect(try await fixture.response(url).url == URL(string: url))
        }
        #expect(fixture.session.requests.count == 1)
    }

    @Test("a load within the lifetime sends nothing and reports the hit's age", .requirement("S1.14"))
    func hit() async throws {
        let fixture = CacheFixture()
        let first = try await fixture.response()
        #expect(first.text == "1" && first.cacheAge == nil)
        fixture.date.advance(by: 12)
        let second = try await fixture.response()
        #expect(second.text == "1" && second.cacheAge == .seconds(12) && second.headers["Age"] == "12")
        #expect(second.statusCode == 200 && second.url == first.url && second.history.isEmpty)
        #expect(second.request?.id != first.request?.id)
        #expect(fixture.session.requests.count == 1)
    }

    @Test(
        "a response is loaded again when its lifetime ends, to the second", .requirement("S1.14"),
        arguments: [(59, "1"), (60, "2")])
    func lifetime(seconds: TimeInterval, text: String) async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get()
        fixture.date.advance(by: seconds)
        #expect(try await fixture.get() == text)
        // The new response is stored from now on.
        fixture.date.advance(by: 1)
        #expect(try await fixture.get() == "2")
    }

    @Test("follows unlimited and none; a clock set back ends a lifetime", .requirement("S1.14"))
    func otherLifetimes() async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get("https://h/a", .unlimited)
        fixture.date.advance(by: 1e9)
        #expect(try await fixture.get("https://h/a", .unlimited) == "1")
        #expect(try await fixture.get("https://h/a", .none) == "2")
        #expect(try await fixture.get("https://h/a", .unlimited) == "1")
        #expect(try await fixture.get("https://h/b", .none) == "3")
        #expect(try await fixture.get("https://h/b") == "4")
        fixture.date.advance(by: -1)
        #expect(try await fixture.get("https://h/b") == "5")
    }

    @Test("a refreshing call loads and stores a new response", .requirement("S1.14"))
    func refreshing() async throws {
        let fixture = CacheFixture(headers: ["ETag": "\"x\""])
        _ = try await fixture.get()
        let url = URL(text: "https://api.example.com/friends")
        let endPoint = URLEndPoint(.get, url, options: RequestOptions { $0.cacheLifetime = .time(.seconds(60)) })
        let fresh = try await fixture.router.response(for: endPoint, options: .refreshing)
        #expect(fresh.text == "2" && fresh.cacheAge == nil)
        #expect(fixture.session.requests.last?.headers["If-None-Match"] == nil)
        #expect(try await fixture.get() == "2")
        let text = try await fixture.router.request(endPoint, as: String.self, options: .refreshing)
        #expect(text == "3")
    }

    @Test("removes all responses, or those of an endpoint, below a path, at a URL", .requirement("S1.14"))
    func removal() async throws {
        enum Api: EndPointType {
            case friends(of: Int), group(String)
            var baseURL: ManagerBaseURL { ManagerBaseURL() }
            var path: String {
                switch self {
                case .friends: "friends"
                case .group(let name): "groups/\(segment: name)"
                }
            }
            var task: HTTPTask {
                switch self {
                case .friends(let id): .requestParameters(urlParameters: ["user_id": id])
                case .group: .request
                }
            }
        }
        let urls = [
            "https://h/v1/friends?user_id=1&token=t", "https://h/v1/friends?user_id=2", "https://h/v1/friendship",
            "https://h/v1/friends/7", "https://h/v1/groups/a%2Fb",
        ]
        /// Returns the indices of the URLs that load again after a removal.
        func removed(_ remove: (ResponseCache) async throws -> Void) async throws -> [Int] {
            let fixture = CacheFixture()
            for url in urls { _ = try await fixture.get(url) }
            try await remove(fixture.cache)
            var removed: [Int] = []
            for (index, url) in urls.enumerated() {
                if try await fixture.response(url).cacheAge == nil { removed.append(index) }
            }
            return removed
        }
        #expect(try await removed { _ in } == [])
        #expect(try await removed { await $0.removeAll() } == [0, 1, 2, 3, 4])
        #expect(try await removed { try await $0.remove(Api.friends(of: 1)) } == [0])
        #expect(try await removed { try await $0.remove(Api.group("a/b")) } == [4])
        #expect(try await removed { await $0.remove(.path("/friends/")) } == [0, 1, 3])
        #expect(try await removed { await $0.remove(.path("v1")) } == [0, 1, 2, 3, 4])
        #expect(try await removed { await $0.remove(.path("")) } == [])
        #expect(try await removed { await $0.remove(.path("groups/a/b")) } == [])
        let url = URL(text: "https://H:443/v1/%66riends/7")
        #expect(try await removed { await $0.remove(.url(url)) } == [3])
        #expect(try await removed { try await $0.remove(URLEndPoint(.get, url)) } == [3])
        #expect(try await removed { await $0.remove(.url(URL(text: "https://h/v1/friends/7#x"))) } == [3])
    }

    @Test("a path to remove is unescaped text, like an endpoint's path")
    func removalByText() async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get("https://h/users/anna%20b")
        _ = try await fixture.get("https://h/users/zo%C3%A9")
        await fixture.cache.remove(.path("users/anna b"))
        await fixture.cache.remove(.path("users/zoé"))
        let usage = await fixture.cache.usage
        #expect(usage.count == 0)
    }

    @Test(
        "equivalent URLs share a response, also for removal (RFC 3986 §6.2)",
        arguments: ["https://API.example.com/friends", "https://api.example.com:443/%66riends#x"])
    func equalURLs(url: String) async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get()
        #expect(try await fixture.get(url) == "1")
        _ = try await fixture.response(url, method: .post)
        #expect(try await fixture.get() == "3")
        #expect(try await fixture.get("https://anna:b@api.example.com/friends") == "4")
    }

    @Test("a response to a URL with a user is stored for the server's lifetime")
    func userInURL() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        let response = try await fixture.response("https://anna:b@h/", .server)
        #expect(response.notStoredReason == nil)
        #expect(try await fixture.response("https://anna:b@h/", .server).cacheOutcome == .hit)
        #expect(try await fixture.response("https://ben:b@h/", .server).cacheOutcome == .miss(.notStored))
    }

    @Test(
        "the key has URL with query, credentials, partition and environment",
        .rule("RFC 9111 §4", "the presented target URI and that of the stored response match"),
        .requirement("S1.14"))
    func keys() async throws {
        let fixture = CacheFixture()
        #expect(try await fixture.get("https://h/a?x=1") == "1")
        #expect(try await fixture.get("https://h/a?x=2") == "2")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["Authorization": "Bearer anna"]) == "3")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["Authorization": "Bearer ben"]) == "4")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["X-Api-Key": "k"]) == "5")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["Cookie": "session=1"]) == "6")
        #expect(try await fixture.get("https://h/a?x=1") { $0.partition = "qa" } == "7")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["Authorization": "Bearer anna"]) == "3")
        #expect(try await fixture.get("https://h/a?x=1", headers: ["authorization": "Bearer ben"]) == "4")
        #expect(try await fixture.get("https://h/a?x=1#part") == "1")
        let manager = NetworkManager(environment: .qa, session: fixture.session, interceptors: [fixture.cache])
        let endPoint = URLEndPoint(
            .get, URL(text: "https://h/e"), options: RequestOptions { $0.cacheLifetime = .unlimited })
        let inQA = try await manager.response(for: endPoint).text
        manager.environment = .production
        let inProduction = try await manager.response(for: endPoint).text
        #expect(inQA == "8" && inProduction == "9")
        manager.environment = .qa
        #expect(try await manager.response(for: endPoint).text == "8")
    }

    @Test("the fields named by Vary are part of the key; Vary: * is not stored", .requirement("S1.14"))
    func vary() async throws {
        let fixture = CacheFixture(headers: ["Vary": "Accept-Language, X-Unit"])
        #expect(try await fixture.get(headers: ["Accept-Language": "de"]) == "1")
        #expect(try await fixture.get(headers: ["accept-language": "de"]) == "1")
        #expect(try await fixture.get(headers: ["Accept-Language": "fr"]) == "2")
        #expect(try await fixture.get(headers: ["Accept-Language": "fr", "X-Unit": "m"]) == "3")
        #expect(try await fixture.get(headers: ["Accept-Language": "de"]) == "1")
        let any = CacheFixture(headers: ["Vary": "Accept, *"])
        #expect(try await any.get() == "1")
        #expect(try await any.get() == "2")
    }

    @Test("other methods, ranges and invalid conditions bypass it", .requirement("S1.14"))
    func passing() async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get()
        let response = try await fixture.response(method: .options)
        #expect(response.cacheAge == nil)
        for name in ["Range", "If-Range", "If-None-Match", "If-Modified-Since"] {
            let response = try await fixture.response(headers: [name: "x"])
            #expect(response.cacheAge == nil)
        }
        #expect(fixture.session.requests.count == 6)
        #expect(try await fixture.get() == "1")
    }

    @Test("errors without a lifetime, a 206 and no-store are not stored")
    func notStored() async throws {
        for (status, headers) in [(206, ["Cache-Control": "max-age=60"]), (301, [:]), (404, [:]), (500, [:])]
            as [(Int, HTTPHeaders)]
        {
            let fixture = CacheFixture(headers: headers, status: status)
            for _ in 1...2 { _ = try? await fixture.get() }
            #expect(fixture.session.requests.count == 2, "\(status)")
        }
        let fixture = CacheFixture(headers: ["Cache-Control": "private, No-Store"])
        for lifetime in [ResponseCache.Lifetime.unlimited, .time(.seconds(60)), .server] {
            _ = try await fixture.get("https://h/", lifetime)
            _ = try await fixture.get("https://h/", lifetime)
        }
        #expect(fixture.session.requests.count == 6)
        let asked = CacheFixture()
        _ = try await asked.get(headers: ["Cache-Control": "no-store"])
        #expect(try await asked.get() == "2")
    }

    @Test(
        "a successful unsafe request removes the responses of its path only",
        .rule(
            "RFC 9111 §4.4",
            "A cache MUST invalidate the target URI when it receives a non-error status code in response to an "
                + "unsafe request method (including methods whose safety is unknown)."))
    func invalidation() async throws {
        let session = StubSession { request in
            request.headers["X-Fail"] != nil ? .status(500) : .text(request.method.rawValue)
        }
        let fixture = CacheFixture(session)
        func isStored(_ url: String) async throws -> Bool { try await fixture.response(url).cacheAge != nil }
        for method in [HTTPMethod.post, .put, .patch, .delete, HTTPMethod("PURGE")] {
            for url in ["https://h/a?x=1", "https://h/ab", "https://other/a"] { _ = try await fixture.get(url) }
            _ = try? await fixture.response("https://h/a", method: method, headers: ["X-Fail": "1"])
            #expect(try await isStored("https://h/a?x=1"))
            _ = try await fixture.response("https://h/a", method: method) { $0.partition = "qa" }
            #expect(try await isStored("https://h/a?x=1"))
            _ = try await fixture.response("https://h/a", method: method)
            #expect(try await isStored("https://h/a?x=1") == false, "\(method)")
            #expect(try await isStored("https://h/ab"))
            #expect(try await isStored("https://other/a"))
        }
    }

    @Test("a PUT with a broken 2xx body removes its path's responses")
    func brokenChange() async throws {
        try await MockServer.run { server in
            let cache = ResponseCache()
            let router = Router<URLEndPoint>(session: DefaultSession.make(), exchangeInterceptors: [cache])
            let options = RequestOptions { $0.cacheLifetime = .time(.seconds(86_400)) }
            func send(_ method: HTTPMethod) async throws -> String {
                try await router.response(for: URLEndPoint(method, server.url, options: options)).text
            }
            server.enqueue(
                .text("old"), .text("refused", statusCode: 500).truncated(after: 3), .text("done").truncated(after: 2),
                .text("new"))
            var texts = [try await send(.get)]
            await #expect(throws: NetworkError.self) { try await send(.put) }
            texts.append(try await send(.get))
            let error = await #expect(throws: NetworkError.self) { try await send(.put) }
            #expect(error?.code == .truncatedBody && error?.statusCode == 200)
            texts.append(try await send(.get))
            #expect(texts == ["old", "old", "new"])
        }
    }

    /// Returns a router whose first exchange waits for the gate. Each exchange answers with its number.
    private func slow(_ cache: ResponseCache) -> (Router<URLEndPoint>, begun: Deliveries<Void>, gate: Gate) {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            let number = begun.count(adding: ())
            if number == 1 { try await gate.wait() }
            return NetworkResponse(statusCode: 200, body: Data("\(number)".utf8), url: request.url)
        }
        return (Router(session: session, exchangeInterceptors: [cache]), begun, gate)
    }

    private let stored = RequestOptions { $0.cacheLifetime = .unlimited }

    @Test("a load that began before its path's removal is not stored")
    func removalMeanwhile() async throws {
        for (isMeant, text) in [(true, "2"), (false, "1")] {
            let cache = ResponseCache()
            let (router, begun, gate) = slow(cache)
            let endPoint = URLEndPoint(.get, URL(text: "https://h/a"), options: stored)
            let load = Task { try await router.response(for: endPoint) }
            _ = try await begun.first()
            await cache.remove(.path(isMeant ? "a" : "b"))
            gate.open()
            _ = try await load.value
            #expect(try await router.response(for: endPoint).text == text)
        }
    }

    @Test("a slow response does not replace that of a later request")
    func overtaken() async throws {
        let cache = ResponseCache()
        let (router, begun, gate) = slow(cache)
        let endPoint = URLEndPoint(.get, URL(text: "https://h/a"), options: stored)
        let load = Task { try await router.response(for: endPoint).text }
        _ = try await begun.first()
        #expect(try await router.response(for: endPoint, options: .refreshing).text == "2")
        gate.open()
        #expect(try await load.value == "1")
        #expect(try await router.response(for: endPoint).text == "2")
    }

    @Test(
        "a definite but uncacheable response removes the stored one",
        arguments: [(403, [:]), (404, [:]), (410, [:]), (200, ["Cache-Control": "no-store"]), (200, ["Vary": "*"])]
            as [(Int, HTTPHeaders)])
    func replaced(status: Int, headers: HTTPHeaders) async throws {
        let fixture = CacheFixture(
            StubSession(.text("old"), .text("x", statusCode: status, headers: headers), .text("new")))
        _ = try await fixture.get()
        _ = try? await fixture.get { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        #expect(try await fixture.get() == "new")
    }

    @Test("a 401 or 407 keeps the stored response, which is then validated", arguments: [401, 407])
    func rejected(status: Int) async throws {
        let session = StubSession(
            .text("old", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=0"]), .status(status), .status(304))
        let fixture = CacheFixture(session)
        _ = try await fixture.get("https://h/", .server)
        _ = try? await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == "old")
        #expect(session.requests.map { $0.headers["If-None-Match"] } == [nil, "\"1\"", "\"1\""])
    }

    @Test("a call that polls gets no stored answer to its own poll")
    func polls() async throws {
        let session = StubSession(.status(202), .text("done"))
        let retries = RetryPolicy(
            strategy: .custom { _, _, result in (try? result.get().statusCode) == 202 ? .zero : nil },
            clock: TestClock(skips: true))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [retries], exchangeInterceptors: [ResponseCache()])
        let options = RequestOptions { $0.cacheLifetime = .unlimited }
        let endPoint = URLEndPoint(.get, URL(text: "https://h/job"), options: options)
        #expect(try await router.response(for: endPoint).text == "done")
        #expect(try await router.response(for: endPoint).cacheOutcome == .hit)
    }

    @Test("a reset empties the cache, on disk too", .requirement("S1.14", "S2.17"))
    func reset() async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.get()
            #expect(await fixture.cache.usage.count == 1)
            await fixture.router.reset()
            let usage = await fixture.cache.usage
            #expect(usage.count == 0 && usage.memory == 0 && usage.disk == 0)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            #expect(try await fixture.get() == "2")
        }
    }
}
