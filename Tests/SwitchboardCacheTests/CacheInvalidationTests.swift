import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §4.4: changes invalidate stored responses.
@Suite(.timeLimit(.minutes(10)))
struct CacheInvalidationTests {
    // "A cache MAY invalidate other URIs … In particular, the URI(s) in the Location and Content-Location response header
    // fields (if present) are candidates for invalidation"
    @Test(
        "a change invalidates its Location and Content-Location of one origin",
        .rule(
            "RFC 9111 §4.4",
            "a cache MUST NOT trigger an invalidation under these conditions if the origin of the URI to be "
                + "invalidated differs from that of the target URI."),
        arguments: [
            (201, "/b", true), (200, "https://h/b?x=2", true), (201, "https://H:443/b", true),
            (201, "https://other/b", false), (201, "http://h/b", false), (201, "https://h:8443/b", false),
            (400, "/b", false), (500, "/b", false), (201, "/c", false), (201, "", false),
            // As in a redirect: dot segments are removed (RFC 3986 §5.2.2), and a backslash is a slash.
            (201, "https://h/a/../b", true), (201, #"\b"#, true),
        ])
    func location(status: Int, target: String, isRemoved: Bool) async throws {
        for field in ["Location", "Content-Location"] {
            let session = StubSession { request in
                request.method == .get ? .text("x") : .status(status, headers: [field: target])
            }
            let fixture = CacheFixture(session)
            for url in ["https://h/b", "http://h/b", "https://h:8443/b", "https://other/b"] {
                _ = try await fixture.get(url)
            }
            _ = try? await fixture.response("https://h/a", method: .put)
            let isGone = try await fixture.response("https://h/b").cacheAge == nil
            #expect(isGone == isRemoved, "\(field)")
            for url in ["http://h/b", "https://h:8443/b", "https://other/b"] {
                #expect(try await fixture.response(url).cacheAge != nil, "\(field) \(url)")
            }
        }
    }

    @Test("a tag removes its responses, also on disk and in flight", arguments: [false, true])
    func tag(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: [:]) { now in
                try isOnDisk
                    ? ResponseCache(folder: folder, memoryLimit: 0, now: now) : ResponseCache(now: now)
            }
            _ = try await fixture.get("https://h/1") { $0.cacheTags = ["a", "b"] }
            _ = try await fixture.get("https://h/2") { $0.cacheTags = ["b"] }
            _ = try await fixture.get("https://h/3")
            await fixture.cache.remove(.tag("a"))
            #expect(await fixture.cache.usage.count == 2)
            await fixture.cache.remove(.tag("c"))
            #expect(try await fixture.get("https://h/2") == "2")
            let next = isOnDisk ? try ResponseCache(folder: folder) : fixture.cache
            await next.remove(.tag("b"))
            #expect(await next.usage.count == 1)
        }
    }

    // "Note that this does not guarantee that all appropriate responses are invalidated globally"
    @Test("a safe method invalidates nothing", arguments: [HTTPMethod.options, .trace])
    func safe(method: HTTPMethod) async throws {
        let fixture = CacheFixture(headers: ["Location": "/friends"])
        _ = try await fixture.get()
        _ = try await fixture.response(method: method)
        #expect(try await fixture.get() == "1")
    }

    @Test(
        "a redirected change invalidates the same, wherever the cache is listed", arguments: [false, true],
        [
            (307, "/x/b", .status(200, headers: ["Location": "c"]), ["https://h/a", "https://h/x/b", "https://h/x/c"]),
            (307, "/x/b", .status(404), ["https://h/a", "https://h/x/b"]),
            (303, "/x/b", .status(404), ["https://h/a", "https://h/x/b"]),
            (303, "/x/b", .reset, ["https://h/a", "https://h/x/b"]), (303, "/a", .status(404), ["https://h/a"]),
            (
                307, "https://other/x/b", .status(200, headers: ["Location": "c"]),
                ["https://h/a", "https://other/x/b", "https://other/x/c"]
            ),
            (307, "https://other/x/b", .status(404), ["https://h/a"]), (400, "/x/b", .status(200), []),
            (307, "/a?v=2", .status(500), ["https://h/a"]),
            (303, "/x/b", .status(302, headers: ["Location": "/d"]), ["https://h/a", "https://h/x/b"]),
        ] as [(Int, String, MockResponse, Set<String>)])
    func redirected(isOutermost: Bool, to: (status: Int, target: String, end: MockResponse, removed: Set<String>))
        async throws
    {
        let change = Deliveries<Void>()
        let session = StubSession { request in
            if change.all.isEmpty { return .text("x") }
            let isFirst = request.method == .put && request.url == URL(string: "https://h/a")
            return isFirst ? .status(to.status, headers: ["Location": to.target]) : to.end
        }
        let cache = ResponseCache(identity: { _ in "me" })
        let router =
            isOutermost
            ? Router<URLEndPoint>(session: session, interceptors: [cache])
            : Router(session: session, exchangeInterceptors: [cache])
        let urls = [
            "https://h/a", "https://h/x/b", "https://h/x/c", "https://h/c", "https://other/x/b", "https://other/x/c",
        ]
        let kept = RequestOptions { $0.cacheLifetime = .unlimited }
        for url in urls {
            _ = try await router.response(for: URLEndPoint(.get, try #require(URL(string: url)), options: kept))
        }
        change.add(())
        _ = try? await router.response(for: URLEndPoint(.put, URL(text: "https://h/a")))
        let cacheOnly = RequestOptions { $0.cachePolicy = .returnCacheDataDontLoad }
        var removed: Set<String> = []
        for url in urls {
            let endPoint = URLEndPoint(.get, try #require(URL(string: url)), options: cacheOnly)
            if (try? await router.response(for: endPoint)) == nil { removed.insert(url) }
        }
        #expect(removed == to.removed)
    }
}
