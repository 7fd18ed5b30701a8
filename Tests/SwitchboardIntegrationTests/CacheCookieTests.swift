import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardCookies
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// RFC 6265 §3: "User agents … MUST process Set-Cookie headers contained in other responses", also in those that a stored
/// response replaces.
@Suite(.timeLimit(.minutes(10)))
struct CacheCookieTests {
    /// A response that is stored, and those to the next request.
    struct Exchange: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let stored: MockResponse
        var range: String?
        let next: [MockResponse]
        let text: String
        var cookies = ["sid=1"]
    }

    private static let url = URL(text: "https://h.example/")
    private static let fields: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=60"]
    private static let part: HTTPHeaders = ["Content-Range": "bytes 0-1/4"]
    private static let rest: HTTPHeaders = ["Content-Range": "bytes 2-3/4"]
    private static let old = MockResponse.text("old", headers: fields)

    private static func cookie(_ cookie: String, _ tag: String = "\"1\"") -> HTTPHeaders {
        fields.merging(["Set-Cookie": cookie, "ETag": tag])
    }

    private static let exchanges = [
        Exchange(
            testDescription: "a 304", stored: old, next: [.status(304, headers: cookie("sid=1"))], text: "old"),
        Exchange(
            testDescription: "a 304 about another response, and the next response", stored: old,
            next: [.status(304, headers: cookie("sid=1", "\"2\"")), .text("new", headers: cookie("sid=2"))],
            text: "new", cookies: ["sid=1", "sid=2"]),
        Exchange(
            testDescription: "a 503 that the stored response replaces", stored: old,
            next: [.status(503, headers: cookie("sid=1"))], text: "old"),
        Exchange(
            testDescription: "a 206 that completes a part",
            stored: .text("ol", statusCode: 206, headers: fields.merging(part)), range: "bytes=0-1",
            next: [.text("d!", statusCode: 206, headers: cookie("sid=1").merging(rest))], text: "old!"),
        Exchange(
            testDescription: "a 206 that does not fit the part, and the next response",
            stored: .text("ol", statusCode: 206, headers: fields.merging(part)), range: "bytes=0-1",
            next: [
                .text("d!", statusCode: 206, headers: cookie("sid=1", "\"2\"").merging(rest)),
                .text("new", headers: cookie("sid=2")),
            ], text: "new", cookies: ["sid=1", "sid=2"]),
        Exchange(
            testDescription: "a 500 about the rest of a part, and the next response",
            stored: .text("ol", statusCode: 206, headers: fields.merging(part)), range: "bytes=0-1",
            next: [.status(500, headers: cookie("sid=1")), .text("new", headers: Self.fields)], text: "new"),
    ]

    @Test("cookies of a response that a stored one replaces are stored once", arguments: exchanges)
    func replaced(exchange: Exchange) async throws {
        let session = StubSession(exchange.stored)
        for response in exchange.next { session.enqueue(response) }
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let cache = ResponseCache(identity: { _ in "me" }, now: { date.now })
        let alone = Router<URLEndPoint>(session: session, exchangeInterceptors: [cache])
        var options = RequestOptions { $0.cacheLifetime = .server }
        var headers = HTTPHeaders()
        headers["Range"] = exchange.range
        _ = try await alone.response(for: URLEndPoint(.get, Self.url, headers: headers, options: options))
        if exchange.range == nil { date.advance(by: 61) }
        let jar = CookieJar()
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar), cache])
        let answer = try await router.response(for: URLEndPoint(.get, Self.url))
        #expect(answer.text == exchange.text && answer.headers.values(for: "Set-Cookie") == exchange.cookies)
        let cookies = jar.cookies(for: Self.url).map { "\($0.name)=\($0.value)" }
        #expect(cookies == exchange.cookies.suffix(1))
        options.cachePolicy = .returnCacheDataDontLoad
        let hit = try await alone.response(for: URLEndPoint(.get, Self.url, options: options))
        #expect(hit.text == exchange.text && hit.headers["Set-Cookie"] == nil)
        #expect(session.requests.count == exchange.next.count + 1)
    }

    @Test("cookies of a cut response are in the stale answer in its place")
    func cut() async throws {
        let count = Deliveries<Void>()
        let session = AdHocSession { request in
            count.add(())
            guard count.all.count == 1 else {
                var error = NetworkError(.truncatedBody)
                (error.statusCode, error.headers) = (200, Self.cookie("sid=1"))
                throw error
            }
            return NetworkResponse(statusCode: 200, headers: Self.fields, body: Data("old".utf8), url: request.url)
        }
        let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache(now: { date.now })])
        let endPoint = URLEndPoint(.get, Self.url)
        _ = try await router.response(for: endPoint)
        date.advance(by: 61)
        let answer = try await router.response(for: endPoint)
        #expect(answer.text == "old" && answer.cacheOutcome == .stale(.serverFailed))
        #expect(answer.headers.values(for: "Set-Cookie") == ["sid=1"])
    }
}
