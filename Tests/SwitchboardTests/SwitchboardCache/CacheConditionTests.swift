import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9111 §4.3.2: conditions that an app sets for a response that it has itself.
@Suite(.timeLimit(.minutes(3)))
struct CacheConditionTests {
    // The fixture's clock begins at Tue, 14 Nov 2023 22:13:20 GMT.
    private static let fields: HTTPHeaders = [
        "ETag": "\"1\"", "Last-Modified": "Tue, 14 Nov 2023 20:00:00 GMT", "Cache-Control": "max-age=60",
        "Content-Language": "en",
    ]

    // "If a cache receives a request that can be satisfied by reusing a stored 200 (OK) … response, as per Section 4, the
    // cache SHOULD evaluate any applicable conditional header field preconditions received in that request with respect to
    // the corresponding validators contained within the stored response."
    @Test(
        "a stored response that the app has is answered by a 304",
        arguments: [
            (["If-None-Match": "\"1\""], 304), (["If-None-Match": "W/\"1\""], 304), (["If-None-Match": "*"], 304),
            (["If-None-Match": "\"0\", \"1\" ,\"2\""], 304),
            (["If-None-Match": "\"0\"", "if-none-match": "\"1\""], 304),
            (["If-None-Match": "\"2\""], 200), (["If-None-Match": "\"1,2\""], 200),
            (["If-Modified-Since": "Tue, 14 Nov 2023 20:00:00 GMT"], 304),
            (["If-Modified-Since": "Tuesday, 14-Nov-23 20:00:01 GMT"], 304),
            (["If-Modified-Since": "Tue, 14 Nov 2023 19:59:59 GMT"], 200),
            // "A recipient MUST ignore If-Modified-Since if the request contains an If-None-Match header field".
            (["If-None-Match": "\"2\"", "If-Modified-Since": "Tue, 14 Nov 2023 20:00:00 GMT"], 200),
            (["If-None-Match": "\"1\"", "If-Modified-Since": "Tue, 14 Nov 2023 19:59:59 GMT"], 304),
        ] as [(HTTPHeaders, Int)])
    func evaluated(condition: HTTPHeaders, status: Int) async throws {
        for identity in [nil, { _ in "me" }] as [ResponseCache.Identity?] {
            let fixture = CacheFixture(headers: Self.fields) { ResponseCache(identity: identity, now: $0) }
            _ = try await fixture.get("https://h/", .server)
            for method in [HTTPMethod.get, .head] {
                let response = try await raw(fixture, method, condition)
                #expect(response.statusCode == status)
                #expect(response.text == (status == 304 || method == .head ? "" : "1"))
                #expect(response.cacheOutcome == .hit && response.cacheAge == .zero)
                #expect(response.headers["ETag"] == "\"1\"" && response.headers["Cache-Control"] == "max-age=60")
                // RFC 9110 §15.4.5: "a sender SHOULD NOT generate representation metadata other than the above listed".
                #expect((response.headers["Content-Language"] == nil) == (status == 304))
            }
            #expect(fixture.session.requests.count == 1)
        }
    }

    // "a cache SHOULD use the stored response's Date field value … to evaluate the conditional."
    @Test("without Last-Modified, the Date of the stored response counts", arguments: [(10, 304), (9, 200)])
    func date(second: Int, status: Int) async throws {
        let fixture = CacheFixture(headers: ["Cache-Control": "max-age=60", "Date": "Tue, 14 Nov 2023 22:13:10 GMT"])
        _ = try await fixture.get("https://h/", .server)
        let since: HTTPHeaders = ["If-Modified-Since": "Tue, 14 Nov 2023 22:13:\(second < 10 ? "0" : "")\(second) GMT"]
        #expect(try await raw(fixture, .get, since).statusCode == status)
        #expect(fixture.session.requests.count == 1)
    }

    @Test("a stale response is validated first, then the app's condition counts")
    func validated() async throws {
        let session = StubSession { request in
            request.headers["If-None-Match"] == "\"1\""
                ? .status(304, headers: Self.fields) : .text("news", headers: Self.fields)
        }
        let fixture = CacheFixture(session)
        _ = try await fixture.get("https://h/", .server)
        for (tag, status) in [("\"1\"", 304), ("\"0\"", 200)] {
            fixture.date.advance(by: 60)
            let response = try await raw(fixture, .get, ["If-None-Match": tag])
            #expect(response.statusCode == status && response.text == (status == 200 ? "news" : ""))
            #expect(response.cacheOutcome == .validated(.expired))
            #expect(session.requests.last?.headers["If-None-Match"] == "\"1\"")
        }
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .hit)
        #expect(session.requests.count == 3)
    }

    // "A cache MUST NOT evaluate conditional header fields that … occur in a request with a target resource for which it
    // has no stored responses".
    @Test("the server evaluates the condition if nothing fitting is stored")
    func forwarded() async throws {
        let session = StubSession { request in
            request.headers["If-None-Match"] == "\"1\""
                ? .status(304, headers: Self.fields) : .text("news", headers: Self.fields)
        }
        let fixture = CacheFixture(session)
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"1\""]).statusCode == 304)
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"0\""]).text == "news")
        #expect(session.requests.map { $0.headers["If-None-Match"] } == ["\"1\"", "\"0\""])
        // The 304 was not stored, the 200 was.
        #expect(try await fixture.response("https://h/", .server).cacheOutcome == .hit)
        // A reload asks with the app's condition, and another user has nothing stored.
        let options = RequestOptions { $0.cachePolicy = .reloadIgnoringLocalCacheData }
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"1\""], options).cacheAge == nil)
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"1\"", "Authorization": "b"]).cacheAge == nil)
        #expect(session.requests.count == 4)
    }

    @Test("the tags of other variants do not replace the app's condition")
    func otherVariants() async throws {
        let session = StubSession { request in
            .text(request.headers["If-None-Match"] ?? "-", headers: Self.fields.merging(["Vary": "X-Unit"]))
        }
        let fixture = CacheFixture(session) { ResponseCache(identity: { _ in "me" }, now: $0) }
        _ = try await raw(fixture, .get, ["X-Unit": "a"])
        #expect(try await raw(fixture, .get, ["X-Unit": "b"]).text == "\"1\"")
        #expect(try await raw(fixture, .get, ["X-Unit": "c", "If-None-Match": "\"0\""]).text == "\"0\"")
    }

    @Test("only a stored 200 becomes a 304; other conditions bypass the cache")
    func others() async throws {
        let missing = CacheFixture(headers: Self.fields, status: 404)
        for _ in 1...2 { #expect(try await raw(missing, .get, ["If-None-Match": "\"1\""]).statusCode == 404) }
        #expect(missing.session.requests.count == 1)
        let fixture = CacheFixture(headers: Self.fields)
        _ = try await fixture.get("https://h/", .server)
        for condition in [
            ["If-Match": "\"1\""], ["If-Unmodified-Since": "Tue, 14 Nov 2023 20:00:00 GMT"], ["If-None-Match": "1"],
            ["If-None-Match": "*, \"1\""], ["If-None-Match": ""], ["If-Modified-Since": "today"],
            ["If-None-Match": "\"1\"", "If-Match": "\"1\""],
        ] as [HTTPHeaders] {
            #expect(try await raw(fixture, .get, condition).cacheAge == nil, "\(condition)")
        }
        #expect(fixture.session.requests.count == 8)
    }

    @Test("a condition counts as one answer of the cache, and a streamed one bypasses it")
    func counted() async throws {
        let fixture = CacheFixture(headers: Self.fields)
        _ = try await fixture.get("https://h/", .server)
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"1\""]).statusCode == 304)
        #expect(await fixture.cache.usage.hits == 1)
        let streamed = RequestOptions { $0.streamsResponse = true }
        #expect(try await raw(fixture, .get, ["If-None-Match": "\"1\""], streamed).cacheAge == nil)
        #expect(fixture.session.requests.last?.headers["If-None-Match"] == "\"1\"")
    }

    private func raw(
        _ fixture: CacheFixture, _ method: HTTPMethod, _ headers: HTTPHeaders,
        _ options: RequestOptions = RequestOptions()
    ) async throws -> NetworkResponse {
        try await fixture.router.rawResponse(
            for: URLEndPoint(method, URL(text: "https://h/"), headers: headers, options: options))
    }
}
