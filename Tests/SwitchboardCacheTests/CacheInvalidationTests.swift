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
}
