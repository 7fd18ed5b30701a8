import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §4.2 and RFC 8246: heuristic lifetimes, ages, and immutable responses.
@Suite(.timeLimit(.minutes(10)))
struct CacheAgeTests {
    // The fixture's clock begins at Tue, 14 Nov 2023 22:13:20 GMT.
    // §4.2.2: "caches are encouraged to use a heuristic expiration value that is no more than some fraction of the interval
    // since that time. A typical setting of this fraction might be 10%."
    @Test(
        "a lifetime is estimated as a tenth of the time since Last-Modified",
        arguments: [
            (["Last-Modified": "Tue, 14 Nov 2023 21:56:40 GMT"], 100),
            (["Last-Modified": "Tue, 14 Nov 2023 21:56:40 GMT", "Date": "Tue, 14 Nov 2023 22:13:10 GMT"], 89),
            (["Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT"], 86_400),
            (["Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT", "Cache-Control": "s-maxage=1"], 86_400),
        ] as [(HTTPHeaders, TimeInterval)])
    func estimated(headers: HTTPHeaders, seconds: TimeInterval) async throws {
        let fixture = CacheFixture(headers: headers)
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: seconds - 1)
        #expect(try await fixture.get("https://h/", .server) == "1")
        fixture.date.advance(by: 1)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "no lifetime is estimated with explicit or invalid fields",
        .rule(
            "RFC 9111 §4.2.2",
            "A cache MUST NOT use heuristics to determine freshness when an explicit expiration time is present in "
                + "the stored response."),
        arguments: [
            ["Cache-Control": "max-age=0"], ["Cache-Control": "max-age=x"], ["Expires": "0"],
            ["Cache-Control": "no-cache"],
            ["Last-Modified": "Tue, 14 Nov 2023 22:13:21 GMT"], ["Last-Modified": "yesterday"],
            ["Last-Modified": "Tue, 14 Nov 2000 22:13:20 UTC"],
        ] as [HTTPHeaders])
    func notEstimated(headers: HTTPHeaders) async throws {
        let old: HTTPHeaders = ["Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT"]
        let fixture = CacheFixture(headers: old.merging(headers))
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test("an age that is too large is 2^31, and no clock traps", arguments: [1e300, .infinity])
    func farFuture(time: Double) async throws {
        let isLater = Protected(false)
        let cache = ResponseCache(now: { Date(timeIntervalSince1970: isLater.value ? time : 1_700_000_000) })
        let session = StubSession { _ in .text("x", headers: ["Cache-Control": "max-age=60"]) }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        let options = RequestOptions { $0.cachePolicy = .returnCacheDataElseLoad }
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"), options: options)
        _ = try await router.response(for: endPoint)
        _ = isLater.swap(true)
        #expect(await router.explain(endPoint).description.contains("answers from memory, 2147483648 s old"))
        let response = try await router.response(for: endPoint)
        #expect(response.cacheAge == .seconds(Int64(2_147_483_648)) && response.headers["Age"] == "2147483648")
    }

    @Test("the switch turns estimates off")
    func switchedOff() async throws {
        let fixture = CacheFixture(headers: ["Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT"])
        for text in ["1", "2"] {
            #expect(try await fixture.get("https://h/", .server) { $0.usesHeuristicFreshness = false } == text)
        }
    }

    // §4.2.2: "… or those whose status codes … have been marked as explicitly cacheable (e.g., with a public response
    // directive)"
    @Test("public allows an estimate for any status", arguments: [("public", 1), ("private", 2)])
    func isPublic(control: String, count: Int) async throws {
        let fixture = CacheFixture(
            headers: ["Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT", "Cache-Control": control], status: 403)
        for _ in 1...2 { _ = try? await fixture.get("https://h/", .server) }
        #expect(fixture.session.requests.count == count)
    }

    // §4.2.3: `apparent_age = max(0, response_time - date_value)`, `response_delay = response_time - request_time`,
    // `corrected_age_value = age_value + response_delay` and
    // `corrected_initial_age = max(apparent_age, corrected_age_value)`.
    @Test(
        "the age counts Age plus transit time, or the time since Date",
        .rule(
            "RFC 9111 §4.2.3",
            "A cache MUST interpret this value relative to the time the request was initiated, not the time that "
                + "the response was received."),
        .rule(
            "RFC 9111 §4",
            "a cache MUST generate an Age header field, replacing any present in the response with a value equal to "
                + "the stored response's current_age"),
        arguments: [
            ([:], 5), (["Age": "20"], 25), (["Date": "Tue, 14 Nov 2023 22:12:55 GMT"], 30),
            (["Date": "Tue, 14 Nov 2023 22:12:55 GMT", "Age": "20"], 30),
            (["Date": "Tue, 14 Nov 2023 22:12:55 GMT", "Age": "40"], 45),
            (["Date": "Tue, 14 Nov 2023 23:12:55 GMT"], 5), (["Date": "now"], 5),
        ] as [(HTTPHeaders, Int)])
    func age(headers: HTTPHeaders, seconds: Int) async throws {
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let session = AdHocSession { request in
            date.advance(by: 5)
            return NetworkResponse(
                statusCode: 200, headers: headers.merging(["Cache-Control": "max-age=600"]), url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(.get, URL(text: "https://h/"))
        _ = try await router.response(for: endPoint)
        #expect(try await router.response(for: endPoint).cacheAge == .seconds(seconds))
        date.advance(by: 7)
        #expect(try await router.response(for: endPoint).headers["Age"] == "\(seconds + 7)")
    }

    // §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information (e.g., a max-age
    // directive with non-integer content) to be stale."
    @Test(
        "a lifetime that breaks the grammar is stale",
        arguments: [
            "max-age =60", "max-age= 60", "max-age='60'", "max-age=+60", "max-age=60s", "max-age=", "max-age=6\"0\"",
        ])
    func invalid(control: String) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": control])
        _ = try await fixture.get("https://h/", .server)
        #expect(try await fixture.get("https://h/", .server) == "2")
    }

    @Test(
        "an immutable response is not revalidated while it is fresh",
        .rule(
            "RFC 8246 §2",
            "Clients SHOULD NOT issue a conditional request during the response's freshness lifetime (e.g., upon a "
                + "reload) unless explicitly overridden by the user"),
        .rule(
            "RFC 8246 §3",
            "These reloads, typically indicated through no-cache request attributes, SHOULD ignore the immutable "
                + "extension as well."),
        arguments: [("immutable, max-age=60", 59, "1"), ("immutable, max-age=60", 60, "2"), ("max-age=60", 1, "2")])
    func immutable(control: String, age: TimeInterval, text: String) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": control, "ETag": "\"1\""])
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: age)
        #expect(try await fixture.get("https://h/", .server) { $0.cachePolicy = .reloadRevalidatingCacheData } == text)
        // A forced reload still asks the server.
        let count = fixture.session.requests.count
        _ = try await fixture.get("https://h/", .server) { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        _ = try await fixture.get("https://h/", .server, headers: ["Cache-Control": "no-cache"])
        #expect(fixture.session.requests.count == count + 2)
        for directive in ["no-cache", "min-fresh=61"] {
            _ = try await fixture.get("https://h/", .server, headers: ["Cache-Control": directive]) {
                $0.cachePolicy = .reloadRevalidatingCacheData
            }
        }
        #expect(fixture.session.requests.count == count + 4)
    }

    @Test(
        "a stale immutable response is revalidated like any other",
        .rule(
            "RFC 8246 §2",
            "Stale responses SHOULD be revalidated as they normally would be in the absence of the immutable extension."
        ))
    func staleImmutable() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "immutable, max-age=60", "ETag": "\"1\""]
        let fixture = CacheFixture(StubSession(.text("1", headers: headers), .status(304, headers: headers)))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 60)
        let response = try await fixture.response("https://h/", .server)
        #expect(response.text == "1" && response.cacheOutcome == .validated(.expired))
        #expect(fixture.session.requests.last?.headers["If-None-Match"] == "\"1\"")
    }

    @Test(
        "immutable ignores arguments, and needs HTTPS",
        .rule("RFC 8246 §2", "If any arguments are present, they have no meaning and MUST be ignored."),
        .rule(
            "RFC 8246 §3",
            "Clients SHOULD ignore the immutable extension from resources that are not part of an authenticated context "
                + "such as HTTPS."),
        arguments: [
            ("https://h/", "immutable=\"a, b\", max-age=60", "1"), ("HTTPS://h/", "immutable=0, max-age=60", "1"),
            ("http://h/", "immutable, max-age=60", "2"),
        ])
    func immutableForm(url: String, control: String, text: String) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": control, "ETag": "\"1\""])
        _ = try await fixture.get(url, .server)
        #expect(try await fixture.get(url, .server) == "1")
        #expect(try await fixture.get(url, .server) { $0.cachePolicy = .reloadRevalidatingCacheData } == text)
    }
}
