import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// `limits.responseBody` also bounds the bodies of stored responses.
@Suite(.timeLimit(.minutes(10)))
struct CacheLimitTests {
    private enum Place: CaseIterable { case memory, disk, file }

    private static let headers: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60"]
    private let url = "https://h/film"

    /// Runs with a cache that stores in memory, on disk, or a large body only on disk.
    private func with(
        _ place: Place, _ headers: HTTPHeaders = headers,
        _ body: (CacheFixture, _ count: Int) async throws -> Void
    ) async throws {
        let count = place == .file ? 2 << 20 : 1_000
        let session = StubSession { request in
            request.headers["If-None-Match"] == nil
                ? .data(Data(repeating: 7, count: count), headers: headers) : .status(304, headers: headers)
        }
        try await withFolder { folder in
            let fixture = try CacheFixture(session) {
                place == .memory
                    ? ResponseCache(now: $0) : try ResponseCache(folder: folder, memoryLimit: 0, now: $0)
            }
            try await body(fixture, count)
        }
    }

    private func get(
        _ fixture: CacheFixture, limit: Int, headers: HTTPHeaders = [:],
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> NetworkResponse {
        try await fixture.response(url, .server, headers: headers) {
            $0.limits.responseBody = limit
            change(&$0)
        }
    }

    private func fails(_ body: () async throws -> NetworkResponse) async throws {
        let error = await #expect(throws: NetworkError.self) { try await body() }
        #expect(error?.code == .responseTooLarge)
        #expect(error?.reason?.contains("limits.responseBody") == true)
    }

    @Test("a stored body above the limit fails like one from the network", arguments: Place.allCases)
    private func hit(place: Place) async throws {
        try await with(place) { fixture, count in
            try await fails { try await get(fixture, limit: count - 1) }
            _ = try await get(fixture, limit: count)
            let sent = fixture.session.requests.count
            try await fails { try await get(fixture, limit: count - 1) }
            #expect(try await get(fixture, limit: count).body.count == count)
            #expect(fixture.session.requests.count == sent)
            // A failed call is no hit, and the response stays.
            #expect(await fixture.cache.usage.hits == 1)
        }
    }

    @Test("a validated body above the limit fails, and stays stored", arguments: Place.allCases)
    private func validated(place: Place) async throws {
        try await with(place) { fixture, count in
            _ = try await get(fixture, limit: count)
            fixture.date.advance(by: 61)
            try await fails { try await get(fixture, limit: count - 1) }
            #expect(try await get(fixture, limit: count).cacheOutcome == .hit)
        }
    }

    @Test("a stale body above the limit fails", arguments: Place.allCases)
    private func stale(place: Place) async throws {
        try await with(place) { fixture, count in
            _ = try await get(fixture, limit: count)
            fixture.date.advance(by: 61)
            try await fails {
                try await get(fixture, limit: count - 1) { $0.cachePolicy = .returnCacheDataElseLoad }
            }
            #expect(
                try await get(fixture, limit: count) { $0.cachePolicy = .returnCacheDataElseLoad }.cacheOutcome
                    == .stale(.requested))
        }
    }

    @Test("a stale body above the limit does not replace a failure")
    func failed() async throws {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60, stale-if-error=600"]
        let fixture = CacheFixture(StubSession(.text("long", headers: headers), .status(503), .reset, .status(503)))
        _ = try await get(fixture, limit: 4)
        fixture.date.advance(by: 61)
        for status in [503, nil] {
            let error = await #expect(throws: NetworkError.self) { try await get(fixture, limit: 3) }
            #expect(error?.code != .responseTooLarge && error?.statusCode == status)
        }
        #expect(try await get(fixture, limit: 4).cacheOutcome == .stale(.serverFailed))
    }

    @Test("a range within the limit of a larger body is answered", arguments: Place.allCases)
    private func range(place: Place) async throws {
        try await with(place) { fixture, count in
            _ = try await get(fixture, limit: count)
            let part = try await get(fixture, limit: 10, headers: ["Range": "bytes=5-14"])
            #expect(part.statusCode == 206 && part.body == Data(repeating: 7, count: 10))
            #expect(part.stream == nil && part.cacheOutcome == .hit)
            try await fails { try await get(fixture, limit: 9, headers: ["Range": "bytes=5-14"]) }
            #expect(fixture.session.requests.count == 1)
        }
    }

    @Test("parts that are completed to a body above the limit fail")
    func completed() async throws {
        let session = StubSession { request in
            guard let range = request.headers["Range"] else { return .text("0123456789", headers: Self.headers) }
            let (first, last) = range == "bytes=0-4" ? (0, 4) : (5, 9)
            let fields = Self.headers.merging(["Content-Range": "bytes \(first)-\(last)/10"])
            return .text(String("0123456789".prefix(last + 1).dropFirst(first)), statusCode: 206, headers: fields)
        }
        let fixture = CacheFixture(session)
        _ = try await get(fixture, limit: 5, headers: ["Range": "bytes=0-4"])
        try await fails { try await get(fixture, limit: 9) }
        let whole = try await get(fixture, limit: 10)
        #expect(whole.text == "0123456789" && session.requests.count == 2)
    }

    @Test("a HEAD and a stream have no limit of the body", arguments: Place.allCases)
    private func unlimited(place: Place) async throws {
        try await with(place) { fixture, count in
            _ = try await get(fixture, limit: count)
            let options = RequestOptions { $0.limits.responseBody = 1 }
            let address = try #require(URL(string: url))
            let head = try await fixture.router.response(for: URLEndPoint(.head, address, options: options))
            #expect(head.cacheOutcome == .hit)
            let stream = try await fixture.router.streamedResponse(
                for: URLEndPoint(.get, address, headers: ["Accept": "application/json"], options: options))
            var received = 0
            for try await chunk in stream.bytes { received += chunk.count }
            #expect(stream.cacheOutcome == .hit && received == count)
        }
    }

    @Test("explain says that a stored body is above the limit", arguments: Place.allCases)
    private func explained(place: Place) async throws {
        try await with(place) { fixture, count in
            _ = try await get(fixture, limit: count)
            let options = RequestOptions {
                $0.limits.responseBody = 9
                $0.staleIfError = .seconds(60)
            }
            let endPoint = URLEndPoint(.get, try #require(URL(string: url)), options: options)
            let plan = await fixture.router.explain(endPoint).description
            #expect(plan.contains("fails: the stored body has \(count) bytes, limits.responseBody is 9"))
            fixture.date.advance(by: 61)
            let later = await fixture.router.explain(endPoint).description
            #expect(later.contains("validates, because it expired 1 s ago\n"))
        }
    }
}
