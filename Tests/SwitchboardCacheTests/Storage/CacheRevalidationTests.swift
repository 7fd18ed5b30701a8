import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 5861 §3: a stale response answers at once, and one revalidation runs in the background.
@Suite(.timeLimit(.minutes(10)))
struct CacheRevalidationTests {
    private static let window: HTTPHeaders = [
        "Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\"",
    ]
    private static let stored = StoredResponse(
        status: 200, headers: window, body: Data(), url: URL(text: "https://h/"), variant: "", responseTime: Date(),
        initialAge: 0, tags: [])

    // "caches MAY serve the response in which it appears after it becomes stale, up to the indicated number of seconds"
    @Test(
        "a stale response answers within the window of field or option",
        .rule(
            "RFC 5861 §3",
            "If delta-seconds passes without the cached entity being revalidated, it SHOULD NOT continue to be "
                + "served stale, absent other information."),
        arguments: [
            ("max-age=60, stale-while-revalidate=30", nil, 30, true),
            ("max-age=60, stale-while-revalidate=30", nil, 31, false),
            ("max-age=60", nil, 1, false), ("max-age=60", 30, 30, true), ("max-age=60", 30, 31, false),
            ("max-age=60, stale-while-revalidate=30", 5, 6, false),
            ("max-age=60, stale-while-revalidate=30, must-revalidate", nil, 1, false),
            ("max-age=60, stale-while-revalidate=30, no-cache", nil, 1, false),
            ("max-age=60, stale-while-revalidate=x", nil, 1, false),
        ] as [(String, Int?, TimeInterval, Bool)])
    func window(control: String, own: Int?, seconds: TimeInterval, isUsed: Bool) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": control])
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60 + seconds)
        let events = Events()
        let response = try await fixture.response("https://h/", .server) {
            $0.staleWhileRevalidate = own.map { .seconds($0) }
            $0.monitors = [events]
        }
        #expect(response.text == (isUsed ? "1" : "2"))
        #expect((response.cacheOutcome == .stale(.whileRevalidating)) == isUsed)
        try await events.wait(for: "finished", count: isUsed ? 2 : 1)
        #expect(fixture.session.requests.count == 2)
        if !control.contains("no-cache") { #expect(try await fixture.get("https://h/", .server) == "2") }
    }

    @Test(
        "one revalidation runs for all calls, and a 304 renews the response",
        .rule(
            "RFC 5861 §3",
            "the cache SHOULD attempt to revalidate it while still serving stale responses (i.e., without "
                + "blocking)."))
    func one() async throws {
        let (begun, gate, events) = (Deliveries<NetworkRequest>(), Gate(), Events())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            begun.add(request)
            guard begun.all.count > 1 else {
                return NetworkResponse(statusCode: 200, headers: Self.window, body: Data("1".utf8), url: request.url)
            }
            try await gate.wait()
            return NetworkResponse(statusCode: 304, headers: Self.window, url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(
            .get, URL(text: "https://h/"), options: RequestOptions { $0.monitors = [events] })
        _ = try await router.response(for: endPoint)
        date.advance(by: 70)
        for _ in 1...5 {
            #expect(try await router.response(for: endPoint).cacheOutcome == .stale(.whileRevalidating))
        }
        _ = try await begun.wait(for: 2)
        #expect(begun.all.last?.headers["If-None-Match"] == "\"1\"")
        gate.open()
        try await events.wait(for: "finished", count: 7)
        let fresh = try await router.response(for: endPoint)
        #expect(fresh.cacheOutcome == .hit && fresh.text == "1" && begun.all.count == 2)
    }

    @Test(
        "monitors receive a failed revalidation, which changes nothing",
        arguments: [(MockResponse.status(500), "finished: HTTP 500", 1), (.reset, "failed: ", 2)])
    func failure(fault: MockResponse, end: String, count: Int) async throws {
        let fixture = CacheFixture(StubSession(.text("1", headers: Self.window), fault, .text("2")))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 70)
        let events = Events()
        #expect(try await fixture.get("https://h/", .server) { $0.monitors = [events] } == "1")
        try await events.wait(for: end, count: count)
        #expect(events.texts.contains { $0.hasPrefix("cache: revalidation failed: ") })
        // The next call gets the stale response too, and tries again.
        let more = Events()
        #expect(try await fixture.get("https://h/", .server) { $0.monitors = [more] } == "1")
        try await more.wait(for: "finished", count: 2)
        #expect(fixture.session.requests.count == 3)
    }

    @Test("a reset ends the revalidation and waits for it")
    func reset() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let events = Events()
        let session = AdHocSession { request in
            begun.add(())
            if begun.all.count > 1 { try await gate.wait() }
            return NetworkResponse(statusCode: 200, headers: Self.window, body: Data("1".utf8), url: request.url)
        }
        let cache = ResponseCache(now: { date.now })
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"), options: RequestOptions { $0.monitors = [events] })
        _ = try await router.response(for: endPoint)
        date.advance(by: 70)
        _ = try await router.response(for: endPoint)
        _ = try await begun.wait(for: 2)
        await router.reset()
        #expect(events.texts.contains { $0.hasPrefix("cancelled") })
        #expect(await cache.usage.count == 0)
    }

    @Test("no revalidation that began before a reset runs after it")
    func resetBeforeTask() async throws {
        let request = NetworkRequest(.get, URL(text: "https://h/"))
        let key = try #require(CacheKey(request, identity: nil))
        for _ in 1...100 {
            let (revalidations, runs) = (CacheRevalidations(), Deliveries<Int>())
            @Sendable func start(_ number: Int) {
                revalidations.start(request, key, Self.stored) { request in
                    runs.add(number)
                    return NetworkResponse(statusCode: 200, url: request.url)
                }
            }
            start(1)
            await revalidations.end()
            let count = runs.all.count
            start(2)
            let last = try await runs.wait(for: count + 1).last
            #expect(last == 2)
        }
    }

    @Test("a reset from inside a revalidation ends")
    func nestedReset() async throws {
        let (router, asked, ended) = (Deliveries<Router<URLEndPoint>>(), Deliveries<Void>(), Deliveries<Bool>())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            asked.add(())
            if asked.all.count > 1 {
                await (try await router.first()).reset()
                ended.open()
            }
            return NetworkResponse(statusCode: 200, headers: Self.window, body: Data("1".utf8), url: request.url)
        }
        let cache = ResponseCache(now: { date.now })
        let made = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        router.add(made)
        _ = try await made.response(for: URLEndPoint(.get, URL(text: "https://h/")))
        date.advance(by: 70)
        _ = try await made.response(for: URLEndPoint(.get, URL(text: "https://h/")))
        _ = try await ended.first()
        #expect(await cache.usage.count == 0)
    }

    @Test(
        "a revalidation ends when its body can no longer be stored", arguments: [false, true],
        [
            (["Cache-Control": "max-age=60"], 17), (["Content-Length": "99999999"], 0),
            (["Cache-Control": "no-store"], 0),
        ]
            as [(HTTPHeaders, Int)])
    func endless(isOnDisk: Bool, answer: (fields: HTTPHeaders, most: Int)) async throws {
        let (asked, chunks, events) = (Deliveries<Void>(), Deliveries<Void>(), Events())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            asked.add(())
            guard asked.all.count > 1 else {
                return NetworkResponse(statusCode: 200, headers: Self.window, body: Data("1".utf8), url: request.url)
            }
            var response = NetworkResponse(
                statusCode: 200, headers: Self.window.merging(["ETag": "\"2\""]).merging(answer.fields),
                url: request.url)
            response.request = request
            response.bytes = ResponseBytes {
                chunks.add(())
                // It ends for the sake of the test.
                return chunks.all.count < 2_000 ? Data(count: 64 << 10) : nil
            }
            return response
        }
        try await withFolder { folder in
            let cache =
                isOnDisk
                ? try ResponseCache(folder: folder, diskLimit: 1 << 20, now: { date.now })
                : ResponseCache(memoryLimit: 1 << 20, now: { date.now })
            let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
            let endPoint = URLEndPoint(
                .get, URL(text: "https://h/"), options: RequestOptions { $0.monitors = [events] })
            for try await _ in try await router.streamedResponse(for: endPoint).bytes {}
            date.advance(by: 70)
            let stale = try await router.streamedResponse(for: endPoint)
            #expect(stale.cacheOutcome == .stale(.whileRevalidating))
            for try await _ in stale.bytes {}
            try await events.wait(for: "finished", count: 3)
            #expect(chunks.all.count <= answer.most)
            // The server's new response counts, although it is not stored.
            #expect(await cache.usage.count == 0)
        }
    }

    @Test("a revalidation after a failed one is the only one until it ends")
    func startAtFailure() async throws {
        final class AtFailure: EventMonitor {
            let body: @Sendable () -> Void
            let released: Gate
            init(released: Gate, _ body: @escaping @Sendable () -> Void) {
                (self.released, self.body) = (released, body)
            }
            deinit { released.open() }
            func record(_ event: CallEvent) {
                if case .failed = event.kind { body() }
            }
        }
        let revalidations = CacheRevalidations()
        let (runs, gate, isOver) = (Deliveries<Int>(), Gate(), Gate())
        let request = NetworkRequest(.get, URL(text: "https://h/"))
        let key = try #require(CacheKey(request, identity: nil))
        @Sendable func start(_ number: Int, _ monitors: [any EventMonitor] = [], until: Gate? = nil) {
            var request = request
            request.options.monitors = monitors
            revalidations.start(request, key, Self.stored) { request in
                runs.add(number)
                guard number > 1 else { throw NetworkError(.connectionLost) }
                try await until?.wait()
                return NetworkResponse(statusCode: 200, url: request.url)
            }
        }
        start(1, [AtFailure(released: isOver) { start(2, until: gate) }])
        // The first one has ended, with all that it does.
        try await isOver.wait()
        start(3)
        #expect(try await runs.wait(for: 2) == [1, 2])
        gate.open()
        let isNext = await comesTrue {
            start(4)
            return runs.all.count > 2
        }
        #expect(isNext && runs.all.prefix(3) == [1, 2, 4])
    }

    @Test("a revalidation of one variant does not delay that of another", arguments: [false, true])
    func variants(isOnDisk: Bool) async throws {
        let (asked, gate, events) = (Deliveries<String>(), Gate(), Events())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            let unit = request.headers["X-Unit"] ?? ""
            asked.add(unit)
            if asked.all.count > 2, unit == "a" { try await gate.wait() }
            let fields = Self.window.merging(["Vary": "X-Unit"])
            return NetworkResponse(statusCode: 200, headers: fields, body: Data(unit.utf8), url: request.url)
        }
        try await withFolder { folder in
            let cache =
                isOnDisk
                ? try ResponseCache(folder: folder, memoryLimit: 0, identity: { _ in "me" }, now: { date.now })
                : ResponseCache(identity: { _ in "me" }, now: { date.now })
            let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
            func get(_ unit: String) async throws -> ResponseCache.Outcome? {
                let options = RequestOptions { $0.monitors = [events] }
                return try await router.response(
                    for: URLEndPoint(.get, URL(text: "https://h/"), headers: ["X-Unit": unit], options: options)
                ).cacheOutcome
            }
            for unit in ["a", "b"] { #expect(try await get(unit) != .hit) }
            date.advance(by: 70)
            for unit in ["a", "a", "b"] { #expect(try await get(unit) == .stale(.whileRevalidating)) }
            // Five calls and the revalidation of "b".
            try await events.wait(for: "finished", count: 6)
            #expect(try await get("b") == .hit)
            // The revalidation of "a" may not have begun.
            _ = try await asked.wait(for: 4)
            #expect(asked.all.filter { $0 == "a" }.count == 2 && asked.all.count == 4)
            gate.open()
            try await events.wait(for: "finished", count: 8)
            #expect(try await get("a") == .hit)
        }
    }

    @Test("a revalidation stays in the environment of its call")
    func environment() async throws {
        let (asked, events) = (Deliveries<NetworkEnvironment?>(), Events())
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            asked.add(request.environment)
            return NetworkResponse(statusCode: 200, headers: Self.window, body: Data("1".utf8), url: request.url)
        }
        let manager = NetworkManager(
            environment: .qa, session: session, interceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"), options: RequestOptions { $0.monitors = [events] })
        _ = try await manager.response(for: endPoint)
        date.advance(by: 70)
        _ = try await manager.response(for: endPoint)
        manager.environment = .production
        try await events.wait(for: "finished", count: 3)
        #expect(asked.all == [.qa, .qa])
    }
}
