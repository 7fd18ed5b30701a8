import Foundation
import Switchboard
@testable import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// The limits of stored parts, and bodies that are no parts of the sent request's response.
@Suite(.timeLimit(.minutes(10)))
struct CachePartLimitTests {
    private static let text = String(repeating: "0123456789", count: 4)
    private let fresh: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"v1\""]

    private func part(_ range: ClosedRange<Int>) -> MockResponse {
        let body = String(Self.text.dropFirst(range.lowerBound).prefix(range.count))
        let fields: HTTPHeaders = ["Content-Range": "bytes \(range.lowerBound)-\(range.upperBound)/40"]
        return .text(body, statusCode: 206, headers: fresh.merging(fields))
    }

    private func get(_ fixture: CacheFixture, _ range: String? = nil) async throws -> NetworkResponse {
        var headers = HTTPHeaders()
        headers["Range"] = range
        return try await fixture.answer(headers)
    }

    @Test("parts that touch become one")
    func touching() async throws {
        let fixture = CacheFixture(StubSession(part(0...9), part(10...19), part(20...39)))
        _ = try await get(fixture, "bytes=0-9")
        _ = try await get(fixture, "bytes=10-19")
        let both = try await get(fixture, "bytes=5-14")
        #expect(both.cacheOutcome == .hit && both.text == "5678901234")
        #expect(try await get(fixture).text == Self.text)
        #expect(fixture.session.requests[2].headers["Range"] == "bytes=20-")
    }

    // The decoded bytes are not those that the part counts, even if the server gives both one tag.
    @Test("a whole that a part overtakes stays stored, an encoded one does not", arguments: [false, true])
    func overtaken(isEncoded: Bool) async throws {
        let (gate, begun) = (Gate(), Deliveries<Void>())
        let plain = MockResponse.text(Self.text, headers: fresh)
        let session = StubSession { [part = part(0...4), whole = isEncoded ? plain.gzipped() : plain] request in
            let number = begun.count(adding: ())
            if request.headers.contains("Range") { return part }
            if number == 1 { try await gate.wait() }
            return whole
        }
        let fixture = CacheFixture(session)
        async let first = get(fixture)
        _ = try await begun.wait(for: 1)
        _ = try await get(fixture, "bytes=0-4")
        gate.open()
        #expect(try await first.text == Self.text)
        let cached = try await get(fixture, "bytes=0-4")
        #expect(cached.cacheOutcome == .hit && cached.statusCode == 206)
        let more = try await get(fixture, "bytes=0-9")
        #expect((more.cacheOutcome == .hit) == !isEncoded)
    }

    @Test("a truncated body of a request that was changed is not stored", arguments: [false, true])
    func changed(isStreamed: Bool) async throws {
        let session = StubSession { [fresh] _ in .text(Self.text, headers: fresh).truncated(after: 10) }
        for isChanged in [true, false] {
            let cache = ResponseCache()
            let change = CacheStep.changing { if isChanged { $0.headers.set("X-User", "1") } }
            let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache, change])
            let endPoint = URLEndPoint(.get, URL(text: "https://h/"), options: RequestOptions { $0.retry = .never })
            await #expect(throws: NetworkError.self) {
                guard isStreamed else { return _ = try await router.response(for: endPoint) }
                for try await _ in try await router.streamedResponse(for: endPoint).bytes {}
            }
            #expect(await cache.usage.count == (isChanged ? 0 : 1))
        }
    }
}
