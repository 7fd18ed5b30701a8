import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// `explain` states what the cache would do.
@Suite(.timeLimit(.minutes(10)))
struct CacheExplainTests {
    private static let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Vary": "X-Unit"]

    /// Returns the line of the plan about the cache, without its number.
    private func line(
        _ fixture: CacheFixture, _ url: String = "https://h/", _ lifetime: ResponseCache.Lifetime = .server,
        method: HTTPMethod = .get, headers: HTTPHeaders = [:],
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> String {
        let options = RequestOptions {
            $0.cacheLifetime = lifetime
            change(&$0)
        }
        let endPoint = URLEndPoint(method, try #require(URL(string: url)), headers: headers, options: options)
        let before = fixture.session.requests.count
        let line = try await line(fixture, endPoint)
        #expect(fixture.session.requests.count == before)
        return line
    }

    private func line(
        _ fixture: CacheFixture, _ endPoint: URLEndPoint, options: RequestOptions = RequestOptions()
    ) async throws -> String {
        let text = await fixture.router.explain(endPoint, options: options).description
        let start = "2. ResponseCache (each exchange): "
        return try #require(text.split(separator: "\n").map(String.init).first { $0.hasPrefix(start) })
            .replacingOccurrences(of: start, with: "")
    }

    @Test("explain names the storage, the age and the rest of the lifetime", arguments: [false, true])
    func hit(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: Self.headers) {
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: $0) : ResponseCache(now: $0)
            }
            let place = isOnDisk ? "disk" : "memory"
            #expect(try await line(fixture) == "sends: not stored")
            _ = try await fixture.get("https://h/", .server)
            fixture.date.advance(by: 12)
            #expect(try await line(fixture) == "answers from \(place), 12 s old, fresh for 48 s")
            #expect(try await line(fixture, method: .head) == "answers from \(place), 12 s old, fresh for 48 s")
            #expect(
                try await line(fixture, "https://h/", .unlimited)
                    == "answers from \(place), 12 s old, fresh without limit")
            #expect(try await line(fixture, "https://h/x") == "sends: not stored")
            fixture.date.advance(by: 58)
            #expect(
                try await line(fixture) { $0.staleWhileRevalidate = .seconds(30) }
                    == "answers from \(place), 70 s old, stale for 10 s, and revalidates")
            #expect(
                try await line(fixture) { $0.cachePolicy = .returnCacheDataElseLoad }
                    == "answers from \(place), 70 s old, stale for 10 s, as requested")
        }
    }

    @Test("explain names memory for a variant in memory and on disk")
    func both() async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: Self.headers) { try ResponseCache(folder: folder, now: $0) }
            _ = try await fixture.get("https://h/", .server)
            #expect(try await line(fixture) == "answers from memory, 0 s old, fresh for 60 s")
            #expect(await fixture.cache.usage.disk > 0)
        }
    }

    @Test("explain knows which ranges of a part are stored", arguments: [false, true])
    func ranges(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { _ in
                .text(
                    "0123456789", statusCode: 206,
                    headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Content-Range": "bytes 0-9/40"])
            }
            let fixture = try CacheFixture(session) {
                isOnDisk ? try ResponseCache(folder: folder, memoryLimit: 0, now: $0) : ResponseCache(now: $0)
            }
            _ = try await fixture.response("https://h/", .server, headers: ["Range": "bytes=0-9"])
            let place = isOnDisk ? "disk" : "memory"
            #expect(
                try await line(fixture, headers: ["Range": "bytes=2-3"])
                    == "answers from \(place), 0 s old, fresh for 60 s")
            for range in ["bytes=9-10", "bytes=20-29", "bytes=-1"] {
                let line = try await line(fixture, headers: ["Range": range])
                #expect(line == "sends: only a part is stored", "\(range)")
            }
        }
    }

    @Test("explain of a range promises no validation that the cache does not do")
    func otherRanges() async throws {
        let headers = Self.headers.merging(["Vary": "X-Unit"])
        let fixture = CacheFixture(headers: headers.merging(["Content-Encoding": "gzip"])) {
            ResponseCache(identity: { _ in "me" }, now: $0)
        }
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"])
        let (own, other): (HTTPHeaders, HTTPHeaders) = (["X-Unit": "a"], ["X-Unit": "b"])
        let range: HTTPHeaders = ["Range": "bytes=0-0"]
        #expect(
            try await line(fixture, headers: own.merging(range))
                == "sends: the stored response cannot answer the range")
        let line = try await line(fixture, headers: other.merging(range))
        #expect(line == "sends: only other variants are stored")
    }

    @Test("explain promises no stale answer from a part")
    func stalePart() async throws {
        let session = StubSession { _ in
            .text(
                "0123456789", statusCode: 206,
                headers: [
                    "ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=600", "Content-Range": "bytes 0-9/40",
                ])
        }
        let fixture = CacheFixture(session) { ResponseCache(now: $0) }
        _ = try await fixture.response("https://h/", .server, headers: ["Range": "bytes=0-9"])
        #expect(try await line(fixture) == "sends: only a part is stored")
    }

    @Test("explain says why the request is sent or fails")
    func sent() async throws {
        let fixture = CacheFixture(headers: Self.headers) { ResponseCache(identity: { _ in "me" }, now: $0) }
        #expect(try await line(fixture) { $0.cacheDirectives.onlyIfCached = true } == "fails: not cached")
        _ = try await fixture.get("https://h/", .server, headers: ["X-Unit": "a"])
        let other: HTTPHeaders = ["X-Unit": "b"]
        #expect(try await line(fixture, headers: other) == "validates, because only other variants are stored")
        let own: HTTPHeaders = ["X-Unit": "a"]
        #expect(
            try await line(fixture, headers: own) { $0.cachePolicy = .reloadRevalidatingCacheData }
                == "validates, because the request asks for it")
        #expect(
            try await line(fixture, headers: own) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
                == "sends: the request asks for it")
        #expect(
            try await line(fixture, "https://h/", .none, headers: own)
                == "sends: the request asks for it, and the response is not stored: options.cacheLifetime is none")
        #expect(try await line(fixture, method: .post) == "sends: the cache does not handle the request")
        fixture.date.advance(by: 65)
        #expect(try await line(fixture, headers: own) == "validates, because it expired 5 s ago")
        #expect(
            try await line(fixture, headers: own) { $0.staleIfError = .seconds(60) }
                == "validates, because it expired 5 s ago, and answers stale if the server fails")
        #expect(try await line(fixture, method: .head, headers: own) == "sends: it expired 5 s ago")
        fixture.date.advance(by: -1_000)
        #expect(try await line(fixture, headers: own) == "validates, because it expired an unknown time ago")
    }

    @Test("the cache explains the request as the adapters before it left it")
    func adapters() async throws {
        struct Stamp: ExchangeInterceptor, RequestAdapter {
            let name: String
            let value: String
            func adapt(_ request: inout NetworkRequest) { request.headers[name] = value }
        }
        let cache = ResponseCache(now: { [date = Date()] in date })
        let endPoint = URLEndPoint(
            .get, URL(text: "https://h/?token=planted-1"), options: RequestOptions { $0.cacheLifetime = .unlimited })
        func router(_ token: String, behind last: [any ExchangeInterceptor] = []) -> Router<URLEndPoint> {
            let first = Stamp(name: "Authorization", value: "Bearer \(token)")
            return Router(session: StubSession { _ in .text("x") }, exchangeInterceptors: [first, cache] + last)
        }
        _ = try await router("planted-2").response(for: endPoint)
        let plan = await router("planted-2", behind: [Stamp(name: "X-Last", value: "a")]).explain(endPoint)
        #expect(plan.description.contains("3. ResponseCache (each exchange): answers from memory, 0 s old, "))
        #expect(plan.request?.headers["X-Last"] == "a")
        let other = await router("planted-3").explain(endPoint)
        #expect(other.description.contains("3. ResponseCache (each exchange): sends: not stored"))
        for text in ["\(plan)", "\(other)", String(reflecting: plan)] { #expect(!text.contains("planted")) }
        var dumped = ""
        dump(plan, to: &dumped)
        #expect(!dumped.contains("planted"))
    }

    @Test("explain counts nothing, revalidates nothing and marks no use", arguments: [false, true])
    func effects(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let session = StubSession { _ in .data(Data(count: 3_000), headers: ["Cache-Control": "max-age=60"]) }
            let fixture = try CacheFixture(session) {
                isOnDisk
                    ? try ResponseCache(folder: folder, diskLimit: 10_000, memoryLimit: 0, now: $0)
                    : ResponseCache(memoryLimit: 10_000, now: $0)
            }
            let (first, second) = ("https://h/1", "https://h/2")
            for url in [first, second] { _ = try await fixture.get(url, .server) }
            let files = { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
            let (usage, names) = (await fixture.cache.usage, try files())
            for _ in 1...2 { _ = try await line(fixture, first) }
            fixture.date.advance(by: 61)
            _ = try await line(fixture, first) { $0.staleWhileRevalidate = .seconds(60) }
            #expect(await fixture.cache.usage == usage)
            #expect(try files() == names)
            // The first response is still the least recently used one.
            _ = try await fixture.get("https://h/3", .server)
            #expect(try await fixture.response(second, .unlimited).cacheAge != nil)
            #expect(try await fixture.response(first, .unlimited).cacheAge == nil)
            #expect(session.requests.count == 4)
        }
    }

    @Test("explain applies the call's own options")
    func options() async throws {
        let fixture = CacheFixture(headers: Self.headers)
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"))
        func line(_ options: RequestOptions) async throws -> String {
            try await self.line(fixture, endPoint, options: options)
        }
        let offline = RequestOptions { $0.cachePolicy = .returnCacheDataDontLoad }
        #expect(try await line(offline) == "fails: not cached")
        _ = try await fixture.response("https://h/", .server)
        #expect(try await line(offline) == "answers from memory, 0 s old, fresh for 60 s")
        #expect(try await line(.refreshing) == "sends: the request asks for it")
        #expect(
            try await line(RequestOptions { $0.cacheLifetime = .time(.seconds(5)) })
                == "answers from memory, 0 s old, fresh for 5 s")
        let manager = NetworkManager(session: fixture.session, exchangeInterceptors: [fixture.cache])
        let plan = await manager.explain(endPoint, options: offline).description
        #expect(plan.contains("fails: not cached"))
    }
}

/// A plan and a condition look at the response that an answer would use.
@Suite(.timeLimit(.minutes(10)))
struct CachePeekTests {
    @Test("a newer variant on disk counts, not the one in memory")
    func newer() async throws {
        try await withFolder { folder in
            let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
            func fixture(_ tag: String, _ vary: String) throws -> CacheFixture {
                let headers: HTTPHeaders = ["Vary": vary, "ETag": tag, "Cache-Control": "max-age=60"]
                return try CacheFixture(headers: headers) { _ in try ResponseCache(folder: folder, now: { date.now }) }
            }
            let (first, second) = (try fixture("\"1\"", "X-Unit"), try fixture("\"2\"", "X-Other"))
            _ = try await first.response("https://h/", .server)
            date.advance(by: 50)
            _ = try await second.response("https://h/", .server) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
            date.advance(by: 20)
            let endPoint = URLEndPoint(.get, URL(text: "https://h/"), headers: ["If-None-Match": "\"2\""])
            // A removal lists the folder, whatever time the listing before took.
            await first.cache.remove(.url(URL(text: "https://h/none")))
            let plan = await first.router.explain(URLEndPoint(.get, URL(text: "https://h/"))).description
            #expect(plan.contains("answers from disk, 20 s old, fresh for 40 s"))
            let response = try await first.router.rawResponse(for: endPoint)
            #expect(response.statusCode == 304 && response.cacheOutcome == .hit)
            #expect(first.session.requests.count == 1)
        }
    }
}
