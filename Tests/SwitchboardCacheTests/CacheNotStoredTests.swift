import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A response says why it was not stored, and `explain` says it before.
@Suite(.timeLimit(.minutes(10)))
struct CacheNotStoredTests {
    private static let stored = RequestOptions { $0.cacheLifetime = .unlimited }
    private let url = URL(text: "https://h/me")

    @Test(
        "a miss says why its response was not stored",
        arguments: [
            (200, ["Cache-Control": "no-store"], "its Cache-Control has no-store"),
            (
                200, ["Vary": "*", "ETag": "\"1\""],
                "its Vary is *, names more than 64 fields or has more than 4096 bytes"
            ),
            (200, [:], nil), (200, ["Cache-Control": "no-cache"], nil),
            (404, [:], "it is not fresh, and has no ETag or Last-Modified"),
            (202, ["ETag": "\"1\""], "HTTP 202 states no lifetime: set options.cacheLifetime"),
            (302, ["ETag": "\"1\""], "HTTP 302 states no lifetime"),
            (401, ["Cache-Control": "max-age=60"], "no cache stores a 401"),
            (599, ["Cache-Control": "max-age=60, must-understand"], "no cache stores a 599"),
            (206, ["ETag": "\"1\""], "no cache stores a 206"),
            (200, ["Cache-Control": "max-age=60"], nil), (200, ["ETag": "\"1\""], nil),
        ] as [(Int, HTTPHeaders, String?)])
    func responses(status: Int, headers: HTTPHeaders, reason: String?) async throws {
        let events = Events()
        let fixture = CacheFixture(headers: headers, status: status)
        let options = RequestOptions { $0.monitors = [events] }
        for _ in 1...2 {
            let response = try await fixture.router.rawResponse(for: URLEndPoint(.get, url, options: options))
            #expect(response.notStoredReason == (response.cacheOutcome == .hit ? nil : reason))
        }
        let text = events.texts.first { $0.hasPrefix("cache: not stored: ") }
        #expect(text == reason.map { "cache: not stored: \($0)" })
    }

    @Test("a confirmed response that is not stored says why")
    func confirmed() async throws {
        let fixture = CacheFixture(
            StubSession(
                .text("x", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=60"]),
                .status(304, headers: ["ETag": "\"1\"", "Cache-Control": "no-store"])))
        _ = try await fixture.response("https://h/", .server)
        fixture.date.advance(by: 61)
        let events = Events()
        let response = try await fixture.response("https://h/", .server) { $0.monitors = [events] }
        #expect(response.cacheOutcome == .validated(.expired) && response.text == "x")
        #expect(response.notStoredReason == "its Cache-Control has no-store")
        #expect(events.texts.contains("cache: not stored: its Cache-Control has no-store"))
    }

    @Test("a completed response that is not stored says why")
    func completed() async throws {
        let fields: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
        let session = StubSession(
            .text("01234", statusCode: 206, headers: fields.merging(["Content-Range": "bytes 0-4/2000"])),
            .text(
                String(repeating: "5", count: 1_995), statusCode: 206,
                headers: fields.merging(["Content-Range": "bytes 5-1999/2000"])))
        let fixture = CacheFixture(session) { ResponseCache(memoryLimit: 1_500, now: $0) }
        _ = try await fixture.response("https://h/", .server, headers: ["Range": "bytes=0-4"])
        let whole = try await fixture.response("https://h/", .server)
        #expect(whole.cacheOutcome == .validated(.incomplete) && whole.body.count == 2_000)
        #expect(whole.notStoredReason == "it is larger than the cache")
    }

    @Test("a miss says which demand of the request prevents storing")
    func requests() async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60"])
        let none = try await fixture.response("https://h/", .none)
        #expect(none.notStoredReason == "options.cacheLifetime is none")
        let directive = try await fixture.response("https://h/", .server) { $0.cacheDirectives.noStore = true }
        #expect(directive.notStoredReason == "the request's Cache-Control has no-store")
        let stored = try await fixture.response("https://h/", .server)
        #expect(stored.cacheOutcome == .miss(.notStored) && stored.notStoredReason == nil)
        let head = try await fixture.response("https://h/x", .server, method: .head)
        #expect(head.notStoredReason == "the answer to a HEAD has no body")
        let range = try await fixture.response("https://h/y", .server, headers: ["Range": "bytes=0-"])
        #expect(range.notStoredReason == nil)
        let small = CacheFixture(headers: ["Cache-Control": "max-age=60"]) { ResponseCache(memoryLimit: 9, now: $0) }
        #expect(try await small.response("https://h/", .server).notStoredReason == "it is larger than the cache")
        #expect(try await fixture.response("https://h/", method: .post).notStoredReason == nil)
    }

    @Test("a cache before a login says why it stores nothing", arguments: [false, true])
    func login(hasIdentity: Bool) async throws {
        let advice = "list the cache after it, or \(hasIdentity ? "return" : "create the cache with") an identity"
        let nobody: ResponseCache.Identity = { _ in nil }
        let logins: [any Interceptor] = [
            BearerAuth { "token" }, BearerAuth { nil },
            BasicAuth { BasicCredentials(user: "anna", password: "p") },
        ]
        for login in logins {
            let cache = ResponseCache(identity: hasIdentity ? nobody : nil)
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("x") }, interceptors: [cache, login])
            let endPoint = URLEndPoint(.get, url, options: Self.stored)
            let why = "a login after the cache may add credentials: \(advice)"
            for _ in 1...2 {
                let plan = await router.explain(endPoint).description
                #expect(plan.contains("ResponseCache: sends: not stored, and the response is not stored: \(why)"))
                let response = try await router.response(for: endPoint)
                #expect(response.cacheOutcome == .miss(.notStored) && response.notStoredReason == why)
            }
        }
        // With a name, and behind the login, the response is stored.
        for chain in [
            [ResponseCache(identity: { _ in "anna" }), logins[0]], [logins[0], ResponseCache()],
        ] as [[any Interceptor]] {
            let router = Router<URLEndPoint>(session: StubSession { _ in .text("x") }, interceptors: chain)
            let endPoint = URLEndPoint(.get, url, options: Self.stored)
            #expect(await router.explain(endPoint).description.contains("ResponseCache: sends: not stored\n"))
            #expect(try await router.response(for: endPoint).notStoredReason == nil)
            #expect(try await router.response(for: endPoint).cacheOutcome == .hit)
        }
    }

    @Test("explain says which change after the cache prevents storing")
    func explained() async throws {
        struct Stamp: Interceptor, RequestAdapter {
            func adapt(_ request: inout NetworkRequest) { request.headers["X-Stamp"] = "planted" }
        }
        func plan(_ last: [any Interceptor], _ options: RequestOptions = Self.stored) async -> String {
            let router = Router<URLEndPoint>(
                session: StubSession { _ in .text("x") }, interceptors: [ResponseCache()] + last)
            let lines = await router.explain(URLEndPoint(.get, url), options: options).description.split(
                separator: "\n")
            return lines.first { $0.hasPrefix("1. ResponseCache: ") }.map { String($0.dropFirst(18)) } ?? ""
        }
        #expect(await plan([]) == "sends: not stored")
        #expect(
            await plan([Stamp()])
                == "sends: not stored, and the response is not stored: an interceptor after the cache changed the "
                + "request: list the cache after it, or create the cache with an identity")
        #expect(
            await plan([], RequestOptions { $0.cacheLifetime = .none })
                == "sends: the request asks for it, and the response is not stored: options.cacheLifetime is none")
        #expect(
            await plan([], RequestOptions { $0.cacheDirectives.noStore = true })
                == "sends: not stored, and the response is not stored: the request's Cache-Control has no-store")
    }

    @Test("a changed Vary field, a redirect and another origin have a reason")
    func others() async throws {
        let vary = AdHocInterceptor { request, next in
            var request = request
            request.headers["X-Lang"] = "de"
            return try await next(request)
        }
        let headers: HTTPHeaders = ["Vary": "X-Lang", "Cache-Control": "max-age=60"]
        let named = Router<URLEndPoint>(
            session: StubSession { _ in .text("x", headers: headers) },
            interceptors: [ResponseCache(identity: { _ in "me" }), vary])
        #expect(
            try await named.response(for: URLEndPoint(.get, url)).notStoredReason
                == "its Vary names a field that an interceptor after the cache changed: list the cache after it")
        func redirected(to place: String) async throws -> String? {
            let router = Router<URLEndPoint>(
                session: StubSession { request in
                    request.path == "/me"
                        ? .redirect(to: place) : .text("x", headers: ["Cache-Control": "max-age=86400"])
                }, interceptors: [ResponseCache(identity: { _ in "me" })])
            return try await router.response(for: URLEndPoint(.get, url)).notStoredReason
        }
        #expect(try await redirected(to: "/b") == "a redirect led to it: set options.cacheLifetime")
        #expect(try await redirected(to: "https://other/b") == "another origin was involved")
    }
}
