import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// Each response states the part that the cache had in it.
@Suite(.timeLimit(.minutes(10)))
struct CacheOutcomeTests {
    private static let headers: HTTPHeaders = ["ETag": "\"1\"", "Vary": "X-Unit", "Cache-Control": "max-age=60"]

    /// Returns a fixture that confirms each tag.
    private func fixture() -> CacheFixture {
        CacheFixture(
            StubSession { request in
                request.headers["If-None-Match"] == "\"1\""
                    ? .status(304, headers: Self.headers) : .text("x", headers: Self.headers)
            }
        ) { ResponseCache(identity: { _ in "me" }, now: $0) }
    }

    @Test("an outcome says hit, validated, stale or miss, and why")
    func outcomes() async throws {
        let fixture = fixture()
        func outcome(
            _ unit: String = "a", _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
        ) async throws -> ResponseCache.Outcome? {
            try await fixture.response("https://h/", .server, headers: ["X-Unit": unit], change).cacheOutcome
        }
        #expect(try await outcome() == .miss(.notStored))
        #expect(try await outcome() == .hit)
        #expect(try await outcome("b") == .validated(.otherVariant))
        #expect(try await outcome { $0.cachePolicy = .reloadIgnoringLocalCacheData } == .miss(.requested))
        #expect(try await outcome { $0.cachePolicy = .reloadRevalidatingCacheData } == .validated(.requested))
        #expect(try await outcome { $0.cacheDirectives.noCache = true } == .validated(.requested))
        #expect(try await outcome { $0.cacheLifetime = .none } == .miss(.requested))
        fixture.date.advance(by: 61)
        #expect(try await outcome { $0.cachePolicy = .returnCacheDataElseLoad } == .stale(.requested))
        #expect(try await outcome { $0.cacheDirectives.maxStale = .seconds(9) } == .stale(.requested))
        #expect(try await outcome() == .validated(.expired))
    }

    @Test(
        "without lifetime and validator it answers requests that accept it",
        arguments: [[:], ["Cache-Control": "no-cache"], ["Cache-Control": "max-age=0"]] as [HTTPHeaders])
    func acceptedAtAnyAge(headers: HTTPHeaders) async throws {
        let fixture = CacheFixture(headers: headers)
        func response(_ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }) async throws
            -> NetworkResponse
        { try await fixture.response("https://h/", .server, change) }
        #expect(try await response().text == "1")
        fixture.date.advance(by: 3_600)
        for policy in [URLRequest.CachePolicy.returnCacheDataElseLoad, .returnCacheDataDontLoad] {
            let stored = try await response { $0.cachePolicy = policy }
            #expect(stored.text == "1" && stored.cacheOutcome == .stale(.requested))
        }
        // RFC 9111 §5.2.2.4: `no-cache` forbids the use without a confirmation, also for `max-stale`.
        let isForbidden = headers["Cache-Control"] == "no-cache"
        let stale = try await response { $0.cacheDirectives.maxStale = .seconds(3_600) }
        #expect(stale.text == (isForbidden ? "2" : "1"))
        // Other requests are sent.
        #expect(try await response().cacheOutcome == .miss(.expired))
        #expect(fixture.session.requests.count == (isForbidden ? 3 : 2))
    }

    @Test("`Pragma: no-cache` is ignored, as RFC 9111 §5.4 deprecates it")
    func pragma() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60", "Pragma": "no-cache"])
        for _ in 0..<2 {
            #expect(try await fixture.get("https://h/", .server, headers: ["Pragma": "no-cache"]) == "1")
        }
    }

    @Test("a missing validator, a POST and a call without cache have an outcome")
    func others() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .miss(.expired))
        #expect(try await fixture.response("https://h/", method: .post).cacheOutcome == nil)
        let router = Router<URLEndPoint>(session: fixture.session)
        #expect(try await router.response(for: URLEndPoint(.get, URL(text: "https://h/"))).cacheOutcome == nil)
    }

    @Test("a monitor receives each outcome once, as a value")
    func events() async throws {
        let fixture = fixture()
        func outcomes(
            _ unit: String = "a", _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
        ) async throws -> [ResponseCache.Outcome] {
            let events = Events()
            let response = try await fixture.response("https://h/", .server, headers: ["X-Unit": unit]) {
                change(&$0)
                $0.monitors = [events]
            }
            let outcomes = events.all.compactMap(\.cacheOutcome)
            #expect(outcomes == [try #require(response.cacheOutcome)])
            return outcomes
        }
        #expect(try await outcomes() == [.miss(.notStored)])
        #expect(try await outcomes() == [.hit])
        #expect(try await outcomes("b") == [.validated(.otherVariant)])
        #expect(try await outcomes { $0.cachePolicy = .reloadIgnoringLocalCacheData } == [.miss(.requested)])
        #expect(try await outcomes { $0.cacheLifetime = .none } == [.miss(.requested)])
        fixture.date.advance(by: 61)
        #expect(try await outcomes { $0.cachePolicy = .returnCacheDataElseLoad } == [.stale(.requested)])
        #expect(try await outcomes() == [.validated(.expired)])
    }

    @Test("a monitor receives the outcome of a stale answer to a failure")
    func failure() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
        let fixture = CacheFixture(StubSession(.text("x", headers: headers), .status(503), .reset))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        for _ in 1...2 {
            let events = Events()
            _ = try await fixture.get("https://h/", .server) { $0.monitors = [events] }
            #expect(events.all.compactMap(\.cacheOutcome) == [.stale(.serverFailed)])
        }
    }

    @Test("a request that is sent again reports its own outcome only")
    func again() async throws {
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = StubSession { request in
            request.headers["If-None-Match"] == nil
                ? .text("x", headers: Self.headers) : .status(304, headers: Self.headers)
        }
        let twice = AdHocInterceptor { request, next in
            let response = try await next(request)
            date.advance(by: 61)
            return try await next(try #require(response.request))
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [twice], exchangeInterceptors: [ResponseCache(now: { date.now })])
        let events = Events()
        _ = try await router.response(
            for: URLEndPoint(.get, URL(text: "https://h/"), options: RequestOptions { $0.monitors = [events] }))
        #expect(events.all.compactMap(\.cacheOutcome) == [.miss(.notStored), .validated(.expired)])
    }
}
