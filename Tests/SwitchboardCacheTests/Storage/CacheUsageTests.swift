import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// The counts of hits, saved bytes and evictions.
@Suite(.timeLimit(.minutes(10)))
struct CacheUsageTests {
    private static let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=600"]

    /// Returns a fixture that answers a GET with ten bytes, confirms them, and fails where the path says so.
    private func fixture() -> CacheFixture {
        CacheFixture(
            StubSession { request in
                if request.headers["X-Fault"] != nil { return .status(503) }
                return request.headers["If-None-Match"] == nil
                    ? .text("0123456789", headers: Self.headers) : .status(304, headers: Self.headers)
            })
    }

    @Test("each answer counts once by its outcome, with the bytes it saved")
    func answers() async throws {
        let fixture = fixture()
        func usage(
            _ method: HTTPMethod = .get, headers: HTTPHeaders = [:],
            _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
        ) async throws -> [Int] {
            _ = try await fixture.response("https://h/", .server, method: method, headers: headers, change)
            let usage = await fixture.cache.usage
            return [usage.hits, usage.validations, usage.staleAnswers, usage.misses, usage.bytesSaved]
        }
        #expect(try await usage() == [0, 0, 0, 1, 0])
        #expect(try await usage() == [1, 0, 0, 1, 10])
        #expect(try await usage(.head) == [2, 0, 0, 1, 10])
        #expect(try await usage { $0.cachePolicy = .reloadRevalidatingCacheData } == [2, 1, 0, 1, 20])
        fixture.date.advance(by: 61)
        #expect(try await usage { $0.cachePolicy = .returnCacheDataElseLoad } == [2, 1, 1, 1, 30])
        #expect(try await usage(.post) == [2, 1, 1, 1, 30])
        #expect(try await usage { $0.cachePolicy = .reloadIgnoringLocalCacheData } == [2, 1, 1, 2, 30])
        #expect(try await usage { $0.cacheLifetime = .none } == [2, 1, 1, 3, 30])
        await fixture.cache.removeAll()
        #expect(await fixture.cache.usage.count == 0)
        #expect(try await usage() == [2, 1, 1, 4, 30])
    }

    @Test("an answer instead of a failure counts as stale; a failure does not")
    func failures() async throws {
        let fixture = CacheFixture(
            StubSession(.text("0123456789", headers: Self.headers), .status(503), .reset, .status(503), .reset))
        for _ in 1...3 {
            _ = try await fixture.get("https://h/", .server)
            fixture.date.advance(by: 61)
        }
        var usage = await fixture.cache.usage
        #expect(usage.staleAnswers == 2 && usage.misses == 1 && usage.bytesSaved == 20)
        fixture.date.advance(by: 10_000)
        // A 503 is an answer of the server, and a lost connection is none.
        for _ in 1...2 { _ = try? await fixture.get("https://h/", .server) }
        usage = await fixture.cache.usage
        #expect(usage.staleAnswers == 2 && usage.misses == 2 && usage.hits == 0)
    }

    @Test("a revalidation in the background counts as an answer too")
    func background() async throws {
        let fixture = fixture()
        _ = try await fixture.get("https://h/", .server)
        fixture.date.advance(by: 61)
        let events = Events()
        _ = try await fixture.get("https://h/", .server) {
            $0.staleWhileRevalidate = .seconds(60)
            $0.monitors = [events]
        }
        try await events.wait(for: "finished", count: 2)
        let usage = await fixture.cache.usage
        #expect(usage.staleAnswers == 1 && usage.validations == 1 && usage.misses == 1 && usage.hits == 0)
    }

    @Test("a confirmed body that streams from its file counts with its size")
    func streamed() async throws {
        try await withFolder { folder in
            let body = Data(count: 2 << 20)
            let session = StubSession { request in
                request.headers["If-None-Match"] == nil
                    ? .data(body, headers: Self.headers) : .status(304, headers: Self.headers)
            }
            let fixture = try CacheFixture(session) { try ResponseCache(folder: folder, now: $0) }
            let endPoint = URLEndPoint(.get, URL(text: "https://h/film"))
            for saved in [0, body.count] {
                var count = 0
                for try await piece in try await fixture.router.streamedResponse(for: endPoint).bytes {
                    count += piece.count
                }
                #expect(count == body.count)
                #expect(await fixture.cache.usage.bytesSaved == saved)
                fixture.date.advance(by: 61)
            }
            #expect(await fixture.cache.usage.validations == 1)
        }
    }

    @Test("a stream of another variant that a 304 confirmed counts with its size")
    func streamedVariant() async throws {
        try await withFolder { folder in
            let body = Data(count: 2 << 20)
            let headers = Self.headers.merging(["Vary": "Accept-Language"])
            let session = StubSession { request in
                request.headers["If-None-Match"] == nil
                    ? .data(body, headers: headers) : .status(304, headers: headers)
            }
            let fixture = try CacheFixture(session) {
                try ResponseCache(folder: folder, identity: { _ in "me" }, now: $0)
            }
            for language in ["de", "en"] {
                let endPoint = URLEndPoint(
                    .get, URL(text: "https://h/film"), headers: ["Accept-Language": language])
                var count = 0
                for try await piece in try await fixture.router.streamedResponse(for: endPoint).bytes {
                    count += piece.count
                }
                #expect(count == body.count)
            }
            let usage = await fixture.cache.usage
            #expect(usage.validations == 1 && usage.bytesSaved == body.count)
        }
    }

    @Test("a range counts with its size, and a completed body with its part")
    func ranges() async throws {
        let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60", "Accept-Ranges": "bytes"]
        let fixture = CacheFixture(
            StubSession { request in
                var fields = headers
                let ranges = ["bytes=0-5": "0-5", "bytes=6-": "6-9"]
                guard let range = request.headers["Range"].flatMap({ ranges[$0] }) else {
                    return .text("0123456789", headers: headers)
                }
                fields.set("Content-Range", "bytes \(range)/10")
                return .text(range == "0-5" ? "012345" : "6789", statusCode: 206, headers: fields)
            })
        func saved(_ range: String?) async throws -> (body: String, saved: Int) {
            let before = await fixture.cache.usage.bytesSaved
            let headers = range.map { HTTPHeaders(["Range": $0]) } ?? [:]
            let body = try await fixture.response("https://h/", .server, headers: headers).text
            return (body, await fixture.cache.usage.bytesSaved - before)
        }
        #expect(try await saved("bytes=0-5") == ("012345", 0))
        #expect(try await saved("bytes=2-4") == ("234", 3))
        #expect(
            await fixture.router.explain(URLEndPoint(.get, URL(text: "https://h/"))).description
                .contains("ResponseCache (each exchange): sends: only a part is stored"))
        #expect(try await saved(nil) == ("0123456789", 6))
        #expect(try await saved("bytes=1-") == ("123456789", 9))
        #expect(fixture.session.requests.map { $0.headers["Range"] } == ["bytes=0-5", "bytes=6-"])
    }

    @Test("evictions count the responses that made room", arguments: [false, true])
    func evictions(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(StubSession { _ in .data(Data(count: 2_000)) }) {
                isOnDisk
                    ? try ResponseCache(folder: folder, diskLimit: 10_000, memoryLimit: 0, now: $0)
                    : ResponseCache(memoryLimit: 10_000, now: $0)
            }
            for index in 0..<20 {
                _ = try await fixture.get("https://h/\(index)")
                let usage = await fixture.cache.usage
                #expect(usage.evictions == index + 1 - usage.count)
            }
            await fixture.cache.remove(.path("19"))
            let usage = await fixture.cache.usage
            #expect(usage.evictions == 19 - usage.count && usage.evictions > 10)
        }
    }

    @Test("a variant over the limit counts as an eviction", arguments: [false, true])
    func variants(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let fixture = try CacheFixture(headers: ["Vary": "X-Unit"]) { now in
                let identity: ResponseCache.Identity = { _ in "me" }
                return isOnDisk
                    ? try ResponseCache(folder: folder, identity: identity, now: now)
                    : ResponseCache(identity: identity, now: now)
            }
            for index in 0..<20 { _ = try await fixture.get("https://h/", headers: ["X-Unit": "\(index)"]) }
            let usage = await fixture.cache.usage
            #expect(usage.count == 16 && usage.evictions == 4)
        }
    }
}
