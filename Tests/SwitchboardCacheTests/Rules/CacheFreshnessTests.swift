import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The rules of RFC 9111 for a private cache, and RFC 5861 §4.
@Suite(.timeLimit(.minutes(10)))
struct CacheFreshnessTests {
    // The fixture's clock begins at 1,700,000,000: Tue, 14 Nov 2023 22:13:20 GMT.
    static let cases: [(HTTPHeaders, fresh: TimeInterval)] = [
        (["Cache-Control": "max-age=60"], 60),
        (["Cache-Control": "public, MAX-AGE=60, immutable"], 60),
        (["Cache-Control": "max-age=\"60\""], 60),
        (["Cache-Control": "ext=\"a, max-age=9\", max-age=60"], 60),
        (["Cache-Control": "max-age=60, max-age=5"], 5),
        (["Cache-Control": "max-age=60", "Age": "20"], 40),
        (["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 22:12:50 GMT"], 30),
        // A shared cache's directive is not for a private one; max-age wins over Expires (RFC 9111 §5.2.2.10, §5.3).
        (["Cache-Control": "s-maxage=5, max-age=60"], 60),
        (["Cache-Control": "max-age=60", "Expires": "Tue, 14 Nov 2023 22:13:21 GMT"], 60),
        (["Expires": "Tue, 14 Nov 2023 22:14:00 GMT", "Date": "Tue, 14 Nov 2023 22:13:20 GMT"], 40),
        (["Expires": "Tuesday, 14-Nov-23 22:14:00 GMT", "Date": "Tue Nov 14 22:13:20 2023"], 40),
        (["Cache-Control": "max-age=99999999999999999999"], 1e9),
    ]

    @Test(
        "the server's fields set the freshness lifetime (RFC 9111 §4.2)",
        .rule("RFC 9111 §5.2.2", "A cache MUST obey the Cache-Control directives defined in this section."),
        .rule(
            "RFC 9111 §5.3",
            "If a response includes a Cache-Control header field with the max-age directive, a recipient MUST "
                + "ignore the Expires header field."),
        .rule(
            "RFC 9111 §1.2.2",
            "If a cache receives a delta-seconds value greater than the greatest integer it can represent … the "
                + "cache MUST consider the value to be 2147483648"),
        arguments: 0..<12)
    func fresh(index: Int) async throws {
        let (headers, seconds) = Self.cases[index]
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: seconds - 1)
        #expect(try await fixture.get("https://h/", .server) == "1")
        guard seconds < 1e9 else { return }
        fixture.date.advance(by: 1)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "missing, invalid or past freshness is stale (RFC 9111 §4.2.1, §5.3)",
        .rule(
            "RFC 9111 §4",
            "a cache MUST NOT reuse a stored response unless: … fresh, allowed to be served stale, or successfully "
                + "validated"),
        arguments: [
            [:], ["Cache-Control": "max-age=1.5"], ["Cache-Control": "max-age=-1"], ["Cache-Control": "max-age"],
            ["Cache-Control": "no-cache, max-age=60"], ["Cache-Control": "max-age=60", "Age": "60"],
            ["Expires": "0"], ["Expires": "Tue, 14 Nov 2023 22:13:20 GMT"], ["Cache-Control": "\"max-age=60"],
            ["Cache-Control": "no-store =1, max-age=60"], ["Cache-Control": "max-age=60, no-cache= \"\""],
        ] as [HTTPHeaders])
    func notFresh(headers: HTTPHeaders) async throws {
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "an expired response is stale since its Expires (RFC 9111 §4.2.1)",
        arguments: ["stale-while-revalidate=5", "stale-if-error=5", "max-stale=5"])
    func staleOnArrival(directive: String) async throws {
        let headers: HTTPHeaders = [
            "Cache-Control": directive, "ETag": "\"1\"", "Date": "Tue, 14 Nov 2023 22:13:20 GMT",
            "Expires": "Tue, 14 Nov 2023 22:13:15 GMT",
        ]
        let asked: HTTPHeaders = directive == "max-stale=5" ? ["Cache-Control": directive] : [:]
        let fixture = CacheFixture(StubSession(.text("1", headers: headers), .status(503), .status(503)))
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server, headers: asked) == "1")
        fixture.date.advance(by: 1)
        await #expect(throws: NetworkError.self) { try await fixture.get("https://h/", .server, headers: asked) }
    }

    @Test("an app's lifetime overrides the server's, but not a request's no-cache")
    func ownLifetime() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "no-cache, max-age=0", "Age": "1000"])
        _ = try await fixture.get()
        #expect(try await fixture.get() == "1")
        #expect(try await fixture.get(headers: ["Cache-Control": "no-cache"]) == "2")
    }

    @Test(
        "a stale response is revalidated, and a 304 renews it (RFC 9111 §4.3)",
        .rule(
            "RFC 9111 §4.3.1",
            "MUST send the relevant entity tags (using If-Match, If-None-Match, or If-Range) if the entity tags "
                + "were provided in the stored response(s) being validated."),
        .rule(
            "RFC 9111 §4.3.1",
            "SHOULD send the Last-Modified value (using If-Modified-Since) if … a single stored response is being "
                + "validated, and that response contains a Last-Modified value."),
        .rule("RFC 9111 §4.3.3", "Instead, the cache MUST use the full response to satisfy the request."),
        .rule(
            "RFC 9111 §4.3.4",
            "the cache MUST update its header fields with the header fields provided in the 304 (Not Modified) "
                + "response."),
        arguments: SessionKind.allCases)
    func confirmation(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .text("whole").with("ETag", "\"v1\"").with("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")
                    .with("X-Kept", "old").with("X-New", "old"),
                .status(304, headers: ["X-New": "new", "ETag": "\"v1\""]),
                .text("other").with("ETag", "\"v2\""))
            let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
            let cache = ResponseCache(now: { date.now })
            let router = Router<URLEndPoint>(session: kind.make(), exchangeInterceptors: [cache])
            let endPoint = URLEndPoint(
                .get, server.url, options: RequestOptions { $0.cacheLifetime = .time(.seconds(10)) })
            _ = try await router.response(for: endPoint)
            date.advance(by: 10)
            let confirmed = try await router.response(for: endPoint)
            #expect(confirmed.statusCode == 200 && confirmed.text == "whole" && confirmed.cacheAge == .zero)
            #expect(confirmed.headers["X-Kept"] == "old" && confirmed.headers["X-New"] == "new")
            #expect(confirmed.headers["Content-Length"] == "5")
            #expect(confirmed.history.map(\.outcome.description) == ["HTTP 304"])
            let asked = try #require(server.requests.last)
            #expect(asked.headers["If-None-Match"] == "\"v1\"")
            #expect(asked.headers["If-Modified-Since"] == "Tue, 14 Nov 2023 22:13:20 GMT")
            date.advance(by: 9)
            #expect(try await router.response(for: endPoint).cacheAge == .seconds(9))
            date.advance(by: 1)
            #expect(try await router.response(for: endPoint).text == "other")
            #expect(try await router.response(for: endPoint).text == "other")
            #expect(server.requests.count == 3)
        }
    }

    @Test("a validator with a line break is not sent")
    func badValidator() async throws {
        let asked = Deliveries<String?>()
        let session = AdHocSession { request in
            asked.add(request.headers["If-None-Match"])
            return NetworkResponse(
                statusCode: 200, headers: ["ETag": "\"a\r\nX-Injected: 1\"", "Age": "9"], url: request.url)
        }
        let date = TestDate()
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(
            .get, URL(text: "https://h/"), options: RequestOptions { $0.cacheLifetime = .time(.seconds(1)) })
        for _ in 1...2 {
            _ = try await router.response(for: endPoint)
            date.advance(by: 1)
        }
        #expect(asked.all == [nil, nil])
    }

    static let policies: [(URLRequest.CachePolicy, fresh: String, old: String, tag: Bool)] = [
        (.useProtocolCachePolicy, "1", "2", true), (.reloadIgnoringLocalCacheData, "2", "2", false),
        (.reloadIgnoringLocalAndRemoteCacheData, "2", "2", false), (.reloadRevalidatingCacheData, "2", "2", true),
        (.returnCacheDataElseLoad, "1", "1", false), (.returnCacheDataDontLoad, "1", "1", false),
    ]

    @Test("each cache policy of Foundation is followed", .requirement("S3.10"), arguments: 0..<6)
    func policy(index: Int) async throws {
        let (policy, fresh, old, hasTag) = Self.policies[index]
        for (age, expected) in [(1, fresh), (61, old)] as [(TimeInterval, String)] {
            let fixture = CacheFixture(headers: ["ETag": "\"t\""])
            _ = try await fixture.get()
            fixture.date.advance(by: age)
            #expect(try await fixture.get { $0.cachePolicy = policy } == expected)
            guard expected == "2" else { continue }
            #expect((fixture.session.requests.last?.headers["If-None-Match"] != nil) == hasTag)
        }
    }

    @Test("a cache-only request without a usable response fails with notCached")
    func notCached() async throws {
        let fixture = CacheFixture()
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.get { $0.cachePolicy = .returnCacheDataDontLoad }
        }
        #expect(error?.code == .notCached && error?.url != nil)
        _ = try await fixture.get()
        fixture.date.advance(by: 60)
        let other = await #expect(throws: NetworkError.self) {
            try await fixture.get(headers: ["Cache-Control": "only-if-cached"])
        }
        #expect(other?.code == .notCached)
        #expect(fixture.session.requests.count == 1)
    }

    @Test("an own staleWhileRevalidate leaves that of the server for a 404", arguments: [nil, 60])
    func revalidatedError(own: Int?) async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=1, stale-while-revalidate=60"]
        let fixture = CacheFixture(StubSession { _ in .status(404, headers: headers) })
        let change: @Sendable (inout RequestOptions) -> Void = { options in
            options.staleWhileRevalidate = own.map { .seconds($0) }
            options.acceptedStatusCodes = .any
        }
        _ = try await fixture.response("https://h/", .server, change)
        fixture.date.advance(by: 10)
        let response = try await fixture.response("https://h/", .server, change)
        #expect(response.cacheOutcome == .stale(.whileRevalidating))
    }

    @Test("with staleIfError a fresh response replaces its failed validation", arguments: [nil, 60])
    func failedValidation(own: Int?) async throws {
        let fixture = CacheFixture(StubSession(.text("old"), .status(503)))
        _ = try await fixture.get()
        let answer = try? await fixture.get {
            $0.staleIfError = own.map { .seconds($0) }
            $0.cachePolicy = .reloadRevalidatingCacheData
        }
        #expect(answer == (own == nil ? nil : "old"))
        #expect(fixture.session.requests.count == 2)
    }

    @Test(
        "a stale response replaces a server failure while allowed (RFC 5861 §4)",
        .rule(
            "RFC 5861 §4",
            "when the cached response is more stale than the indicated amount, the cached response SHOULD NOT be "
                + "used to satisfy the request, absent other information."),
        arguments: [
            ([:], 60, 30, true), ([:], 60, 61, false), ([:], nil, 0, false),
            (["Cache-Control": "stale-if-error=60"], nil, 60, true),
            (["Cache-Control": "stale-if-error=60"], nil, 61, false),
            (["Cache-Control": "stale-if-error=60"], 5, 6, false),
            (["Cache-Control": "stale-if-error=60, must-revalidate"], nil, 1, false),
            (["Cache-Control": "stale-if-error=60, no-cache"], nil, 1, false),
            (["Cache-Control": "no-cache"], 60, 1, true),
        ] as [(HTTPHeaders, Int?, TimeInterval, Bool)])
    func staleIfError(headers: HTTPHeaders, own: Int?, seconds: TimeInterval, isUsed: Bool) async throws {
        for fault in [MockResponse.status(503), .close, .reset] {
            let fixture = CacheFixture(StubSession(.text("old", headers: headers), fault))
            _ = try await fixture.get()
            fixture.date.advance(by: 60 + seconds)
            let answer = try? await fixture.get { $0.staleIfError = own.map { .seconds($0) } }
            #expect((answer == "old") == isUsed, "\(fault)")
        }
        // A request for a new response does not get a stale one.
        let refreshed = CacheFixture(StubSession(.text("old", headers: headers), .status(503)))
        _ = try await refreshed.get()
        refreshed.date.advance(by: 61)
        let failure = await #expect(throws: NetworkError.self) {
            try await refreshed.get {
                $0.staleIfError = .seconds(1_000)
                $0.cachePolicy = .reloadIgnoringLocalCacheData
            }
        }
        #expect(failure?.statusCode == 503)
        // Statuses that RFC 5861 does not count as errors are not hidden.
        for (fault, code) in [(MockResponse.status(404), NetworkError.Code.notFound), (.status(501), .error5xx)] {
            let fixture = CacheFixture(StubSession(.text("old", headers: headers), fault))
            _ = try await fixture.get()
            fixture.date.advance(by: 61)
            let error = await #expect(throws: NetworkError.self) {
                try await fixture.get { $0.staleIfError = .seconds(1_000) }
            }
            #expect(error?.code == code)
        }
    }

    @Test(
        "each exchange of a redirect is stored separately",
        arguments: [ResponseCache.Lifetime.time(.seconds(60)), .server])
    func redirects(lifetime: ResponseCache.Lifetime) async throws {
        let session = StubSession { request in
            request.path == "/a"
                ? .status(302, headers: ["Location": "/b"]) : .text("b", headers: ["Cache-Control": "max-age=60"])
        }
        let fixture = CacheFixture(session)
        for isStored in [false, true] {
            let response = try await fixture.response("https://h/a", lifetime)
            #expect(response.text == "b" && response.url?.path == "/b" && (response.cacheAge != nil) == isStored)
        }
        #expect(session.requests.map(\.path) == ["/a", "/b", "/a"])
    }

    @Test("a response that a redirect led to is not stored under the first URL")
    func redirectedCall() async throws {
        let session = StubSession { request in
            request.path == "/a"
                ? .status(302, headers: ["Location": "/b"]) : .text("b", headers: ["Cache-Control": "max-age=86400"])
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(identity: { _ in "me" })])
        for _ in 1...2 { _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://h/a"))) }
        #expect(session.requests.map(\.path) == ["/a", "/b", "/a", "/b"])
    }

    @Test(
        "a 304 with another ETag causes a full reload (RFC 9111 §4.3.4)",
        .rule(
            "RFC 9111 §4.3.4",
            "If none of the initial set contains at least one of the same strong validators, then the cache MUST "
                + "NOT use the new response to update any stored responses."))
    func otherTag() async throws {
        for (tag, texts) in [("\"2\"", ["1", "3"]), ("W/\"1\"", ["1", "1"])] {
            let count = Deliveries<Void>()
            let session = StubSession { request in
                count.add(())
                return request.headers["If-None-Match"] == nil
                    ? .text("\(count.all.count)", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
                    : .status(304, headers: ["ETag": tag, "Cache-Control": "max-age=0"])
            }
            let fixture = CacheFixture(session)
            let first = try await fixture.get("https://h/", .server)
            let second = try await fixture.get("https://h/", .server)
            #expect([first, second] == texts)
        }
    }

    @Test(
        "a 304 with no-store ends storing; transit time counts as age",
        .rule(
            "RFC 9111 §5.2.2.5",
            "a cache MUST NOT store any part of either the immediate request or the response and MUST NOT use the "
                + "response to satisfy any other request."))
    func endOfStoring() async throws {
        // RFC 9111 §5.2.2.5.
        let fixture = CacheFixture(
            StubSession(
                .text("old", headers: ["ETag": "\"1\""]), .status(304, headers: ["Cache-Control": "no-store"]),
                .text("new")))
        _ = try await fixture.get()
        fixture.date.advance(by: 60)
        #expect(try await fixture.get() == "old")
        #expect(try await fixture.get() == "new")
        // RFC 9111 §4.2.3.
        let date = TestDate()
        let session = AdHocSession { request in
            date.advance(by: 5)
            return NetworkResponse(statusCode: 200, headers: ["Cache-Control": "max-age=9"], url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"))
        _ = try await router.response(for: endPoint)
        #expect(try await router.response(for: endPoint).cacheAge == .seconds(5))
        date.advance(by: 4)
        #expect(try await router.response(for: endPoint).cacheAge == nil)
    }
}
