import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 9111 §5.2.1: the directives of a request, as a header field and as `RequestOptions.cacheDirectives`.
@Suite(.timeLimit(.minutes(10)))
struct CacheDirectiveTests {
    private static let cases: [(field: String, ResponseCache.Directives, age: TimeInterval, answer: String)] = [
        // "the client prefers a response whose age is less than or equal to the specified number of seconds"
        ("max-age=10", make { $0.maxAge = .seconds(10) }, 10, "1"),
        ("max-age=10", make { $0.maxAge = .seconds(10) }, 11, "2"),
        // "the client will accept a response that has exceeded its freshness lifetime by no more than the specified
        // number of seconds"
        ("max-stale=30", make { $0.maxStale = .seconds(30) }, 90, "1"),
        ("max-stale=30", make { $0.maxStale = .seconds(30) }, 91, "2"),
        // "If no value is assigned to max-stale, then the client will accept a stale response of any age."
        ("max-stale", make { $0.maxStale = .seconds(1 << 40) }, 1e6, "1"),
        ("max-stale=x", make { $0.maxStale = .zero }, 61, "2"),
        ("max-stale=30, max-age=70", make { ($0.maxStale, $0.maxAge) = (.seconds(30), .seconds(70)) }, 71, "2"),
        // "the client prefers a response whose freshness lifetime is no less than its current age plus the specified time
        // in seconds"
        ("min-fresh=20", make { $0.minFresh = .seconds(20) }, 40, "1"),
        ("min-fresh=20", make { $0.minFresh = .seconds(20) }, 41, "2"),
        // "the client prefers stored response not be used to satisfy the request without successful validation"
        ("no-cache", make { $0.noCache = true }, 1, "2"),
        ("no-cache, max-stale", make { ($0.noCache, $0.maxStale) = (true, .seconds(1 << 40)) }, 1, "2"),
        ("only-if-cached", make { $0.onlyIfCached = true }, 59, "1"),
        ("only-if-cached", make { $0.onlyIfCached = true }, 60, "notCached"),
        ("max-stale=5, only-if-cached", make { ($0.onlyIfCached, $0.maxStale) = (true, .seconds(5)) }, 65, "1"),
        ("only-if-cached, no-cache", make { ($0.onlyIfCached, $0.noCache) = (true, true) }, 1, "notCached"),
    ]

    private static func make(_ change: (inout ResponseCache.Directives) -> Void) -> ResponseCache.Directives {
        var directives = ResponseCache.Directives()
        change(&directives)
        return directives
    }

    @Test(
        "a directive decides, as a field and as an option",
        .rule(
            "RFC 9111 §5.2.1.7",
            "SHOULD, upon receiving it, respond with either a stored response consistent with the other constraints "
                + "of the request or a 504 (Gateway Timeout)"),
        arguments: cases.indices)
    func directive(index: Int) async throws {
        let (field, directives, age, answer) = Self.cases[index]
        for isOption in [false, true] {
            let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            _ = try await fixture.get("https://h/", .server)
            fixture.date.advance(by: age)
            do {
                let text = try await fixture.get(
                    "https://h/", .server, headers: isOption ? [:] : ["Cache-Control": field]
                ) { if isOption { $0.cacheDirectives = directives } }
                #expect(text == answer, "\(field) \(isOption)")
            } catch let error as NetworkError {
                #expect(answer == "\(error.code)", "\(field) \(isOption)")
            }
        }
    }

    @Test(
        "directives of options are sent, and a field of the request wins",
        .rule("RFC 9111 §5.2.1.1", "A sender MUST NOT generate the quoted-string form."),
        .rule("RFC 9111 §5.2.1.2", "A sender MUST NOT generate the quoted-string form."),
        .rule("RFC 9111 §5.2.1.3", "A sender MUST NOT generate the quoted-string form."))
    func field() async throws {
        let fixture = CacheFixture()
        let all = Self.make {
            ($0.maxAge, $0.maxStale, $0.minFresh) = (.seconds(1), .milliseconds(2_900), .seconds(-3))
            ($0.noCache, $0.noStore) = (true, true)
        }
        _ = try await fixture.get { $0.cacheDirectives = all }
        #expect(
            fixture.session.requests.last?.headers["Cache-Control"]
                == "max-age=1, max-stale=2, min-fresh=0, no-cache, no-store")
        _ = try await fixture.get(headers: ["Cache-Control": "no-cache"]) { $0.cacheDirectives = all }
        #expect(fixture.session.requests.last?.headers["Cache-Control"] == "no-cache")
        _ = try await fixture.get("https://h/plain")
        #expect(fixture.session.requests.last?.headers["Cache-Control"] == nil)
    }

    @Test(
        "no-store as an option stores nothing",
        .rule(
            "RFC 9111 §5.2.1.5",
            "The no-store request directive indicates that a cache MUST NOT store any part of either this request "
                + "or any response to it."))
    func noStore() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        _ = try await fixture.get("https://h/", .server) { $0.cacheDirectives.noStore = true }
        #expect(await fixture.cache.usage.count == 0)
    }

    @Test(
        "must-revalidate and no-cache forbid every stale answer",
        .rule(
            "RFC 9111 §5.2.2.2",
            "once the response has become stale, a cache MUST NOT reuse that response to satisfy another request "
                + "until it has been successfully validated by the origin"),
        .rule(
            "RFC 9111 §4.2.4",
            "A cache MUST NOT generate a stale response if it is prohibited by an explicit in-protocol directive"),
        arguments: ["max-age=60, must-revalidate", "max-age=60, no-cache"])
    func mustRevalidate(control: String) async throws {
        let control = control + ", stale-while-revalidate=600, stale-if-error=600"
        let fixture = CacheFixture(
            StubSession(.text("1", headers: ["Cache-Control": control]), .status(503), .text("2")))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        let asked: HTTPHeaders = ["Cache-Control": "max-stale, stale-if-error=600"]
        await #expect(throws: NetworkError.self) { try await fixture.get("https://h/", .server, headers: asked) }
        #expect(try await fixture.get("https://h/", .server, headers: asked) == "2")
    }

    @Test(
        "must-revalidate without a connection is the connection's error",
        .rule(
            "RFC 9111 §5.2.2.2",
            "In all circumstances, a cache MUST NOT ignore the must-revalidate directive; in particular, if a cache is "
                + "disconnected, the cache MUST generate an error response rather than reuse the stale response."),
        .rule(
            "RFC 9111 §5.2.2.2",
            "The generated status code SHOULD be 504 (Gateway Timeout) unless another error status code is more "
                + "applicable."),
        arguments: [
            NetworkError.Code.noInternetConnection, .cannotConnect, .timedOut,
        ])
    func disconnected(code: NetworkError.Code) async throws {
        let control = "max-age=60, must-revalidate, stale-if-error=600, stale-while-revalidate=600"
        let fixture = CacheFixture(StubSession(.text("1", headers: ["Cache-Control": control]), .failure(code)))
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        let error = await #expect(throws: NetworkError.self) {
            try await fixture.get("https://h/", .server, headers: ["Cache-Control": "max-stale, stale-if-error=600"])
        }
        #expect(error?.code == code)
    }

    @Test(
        "no-cache needs a confirmation for each request",
        .rule(
            "RFC 9111 §5.2.2.4",
            "the response MUST NOT be used to satisfy any other request without forwarding it for validation and "
                + "receiving a successful response"),
        .rule(
            "RFC 9111 §4",
            "the stored response does not contain the no-cache directive, unless it is successfully validated"),
        arguments: [
            "no-cache", "no-cache, max-age=60", "max-age=60, no-cache=\"\"", "No-Cache, immutable",
            "max-age=60, no-cache=\" \"", "max-age=60, no-cache=\" ,\t\"",
        ])
    func noCache(control: String) async throws {
        let headers: HTTPHeaders = ["Cache-Control": control, "ETag": "\"1\""]
        let fixture = CacheFixture(
            StubSession(
                .text("1", headers: headers), .status(304, headers: headers), .status(304, headers: headers),
                .status(500)))
        _ = try await fixture.get("https://h/", .server)
        for _ in 1...2 {
            let response = try await fixture.response("https://h/", .server)
            #expect(response.text == "1" && response.cacheOutcome == .validated(.expired))
        }
        await #expect(throws: NetworkError.self) { try await fixture.get("https://h/", .server) }
        #expect(
            fixture.session.requests.map { $0.headers["If-None-Match"] } == [nil]
                + [String](repeating: "\"1\"", count: 3))
    }

    @Test(
        "a field of the request replaces the directives of the options",
        arguments: [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData,
            .returnCacheDataElseLoad, .reloadRevalidatingCacheData,
        ] as [URLRequest.CachePolicy])
    func ownField(policy: URLRequest.CachePolicy) async throws {
        let fixture = CacheFixture()
        _ = try await fixture.get("https://h/", .server, headers: ["Cache-Control": "no-store"]) {
            $0.cachePolicy = policy
            $0.cacheDirectives.maxAge = .seconds(5)
        }
        #expect(fixture.session.requests.map { $0.headers["Cache-Control"] } == ["no-store"])
    }

    @Test("a policy that reloads keeps the directives of the options")
    func policies() async throws {
        let policies: [URLRequest.CachePolicy] = [
            .reloadIgnoringLocalCacheData, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData,
        ]
        for policy in policies {
            let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
            let first = try await fixture.get("https://h/", .server) {
                $0.cachePolicy = policy
                $0.cacheDirectives.noStore = true
            }
            let second = try await fixture.get("https://h/", .server)
            #expect(first == "1" && second == "2", "\(policy)")
            let error = await #expect(throws: NetworkError.self) {
                try await fixture.get("https://h/", .server) {
                    $0.cachePolicy = policy
                    $0.cacheDirectives.onlyIfCached = true
                }
            }
            #expect(error?.code == .notCached && fixture.session.requests.count == 2, "\(policy)")
        }
    }
}
