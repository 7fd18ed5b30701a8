import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// A plan and a condition look at the response that an answer would use.
@Suite(.timeLimit(.minutes(3)))
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
            // The first cache lists the folder again when it took no long time before.
            let end = ContinuousClock.now + .seconds(20)
            var plan = ""
            while !plan.contains("from disk"), ContinuousClock.now < end {
                plan = await first.router.explain(URLEndPoint(.get, URL(text: "https://h/"))).description
                await Task.yield()
            }
            #expect(plan.contains("answers from disk, 20 s old, fresh for 40 s"))
            let response = try await first.router.rawResponse(for: endPoint)
            #expect(response.statusCode == 304 && response.cacheOutcome == .hit)
            #expect(first.session.requests.count == 1)
        }
    }
}
