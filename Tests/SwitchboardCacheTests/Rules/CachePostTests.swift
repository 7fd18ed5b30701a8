import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

/// RFC 9110 §9.3.3: a POST whose response is the content of its URL.
@Suite(.timeLimit(.minutes(10)))
struct CachePostTests {
    private static let fresh: HTTPHeaders = ["Content-Location": "/a", "Cache-Control": "max-age=60"]

    /// Returns a fixture whose session answers each exchange with its method, and with these fields for a POST.
    private func fixture(
        _ headers: HTTPHeaders, _ status: Int = 200, identity: ResponseCache.Identity? = nil
    ) -> CacheFixture {
        CacheFixture(
            StubSession { request in
                .text(
                    request.method.rawValue, statusCode: request.method == .post ? status : 200,
                    headers: request.method == .post ? headers : [:])
            }
        ) { ResponseCache(identity: identity, now: $0) }
    }

    private func post(
        _ fixture: CacheFixture, headers: HTTPHeaders = [:], options: RequestOptions = RequestOptions()
    ) async throws {
        _ = try await fixture.router.rawResponse(
            for: URLEndPoint(
                .post, URL(text: "https://h/a"),
                task: .requestBody(DataBody(Data("x".utf8), contentType: "text/plain")),
                headers: headers, options: options))
    }

    // RFC 9110 §9.3.3: "Responses to POST requests are only cacheable when they include explicit freshness information …
    // and a Content-Location header field that has the same value as the POST's target URI … A cached POST response can
    // be reused to satisfy a later GET or HEAD request. In contrast, a POST request cannot be satisfied by a cached POST
    // response".
    @Test(
        "a fresh POST response located at its own URL answers a GET",
        arguments: [
            (fresh, 200, true), (fresh, 201, true), (fresh, 400, false), (fresh, 303, false), (fresh, 206, false),
            (["Content-Location": "HTTPS://H:443/a", "Cache-Control": "max-age=60"], 200, true),
            (["Content-Location": "https://h/a", "Expires": "Tue, 14 Nov 2023 22:14:20 GMT"], 200, true),
            (["Content-Location": "/a?x", "Cache-Control": "max-age=60"], 200, false),
            (["Content-Location": "/b", "Cache-Control": "max-age=60"], 200, false),
            (["Content-Location": "https://other/a", "Cache-Control": "max-age=60"], 200, false),
            (["Content-Location": "", "Cache-Control": "max-age=60"], 200, false),
            (["Content-Location": "/a", "content-location": "/b", "Cache-Control": "max-age=60"], 200, false),
            (["Cache-Control": "max-age=60"], 200, false),
            (["Content-Location": "/a", "Last-Modified": "Tue, 14 Nov 2000 22:13:20 GMT"], 200, false),
            (["Content-Location": "/a", "Cache-Control": "max-age=60, no-store"], 200, false),
            (["Content-Location": "/a", "Cache-Control": "max-age=60", "Vary": "Content-Type"], 200, false),
        ] as [(HTTPHeaders, Int, Bool)])
    func stored(headers: HTTPHeaders, status: Int, isStored: Bool) async throws {
        for identity in [nil, { _ in "me" }] as [ResponseCache.Identity?] {
            let fixture = fixture(headers, status, identity: identity)
            let events = Events()
            try await post(fixture, options: RequestOptions { $0.monitors = [events] })
            // A response that varies by a field of the body is stored, and matches no GET.
            #expect(events.texts.contains("cache: stored") == (isStored || headers.contains("Vary")))
            #expect(try await fixture.get("https://h/a", .server) == (isStored ? "POST" : "GET"))
            try await post(fixture)
            let head = try await fixture.response("https://h/a", .server, method: .head)
            #expect((head.cacheAge != nil) == isStored)
            #expect(fixture.session.requests.filter { $0.method == .post }.count == 2)
        }
    }

    @Test("a stored POST response replaces the one to the GET, and ends in time")
    func replaced() async throws {
        let fixture = fixture(Self.fresh)
        #expect(try await fixture.get("https://h/a") == "GET")
        try await post(fixture)
        fixture.date.advance(by: 59)
        #expect(try await fixture.get("https://h/a", .server) == "POST")
        fixture.date.advance(by: 1)
        #expect(try await fixture.get("https://h/a", .server) == "GET")
    }

    @Test("a POST's response answers no other user, and none after no-store")
    func owned() async throws {
        let fixture = fixture(Self.fresh)
        try await post(fixture, headers: ["Authorization": "anna"])
        #expect(try await fixture.get("https://h/a", .server, headers: ["Authorization": "ben"]) == "GET")
        #expect(try await fixture.get("https://h/a", .server, headers: ["Authorization": "anna"]) == "POST")
        let streamed = self.fixture(Self.fresh)
        try await post(streamed, options: RequestOptions { $0.streamsResponse = true })
        #expect(try await streamed.get("https://h/a", .server) == "GET")
        for (headers, lifetime) in [(["Cache-Control": "no-store"], .server), ([:], .none)]
            as [(HTTPHeaders, ResponseCache.Lifetime)]
        {
            let fixture = self.fixture(Self.fresh)
            try await post(fixture, headers: headers, options: RequestOptions { $0.cacheLifetime = lifetime })
            #expect(try await fixture.get("https://h/a", .server) == "GET")
        }
    }

    @Test("a POST that began before a later change ended is not stored")
    func overtaken() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            begun.add(())
            if request.method == .post { try await gate.wait() }
            return NetworkResponse(
                statusCode: 200, headers: Self.fresh, body: Data(request.method.rawValue.utf8), url: request.url)
        }
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let url = URL(text: "https://h/a")
        let post = Task { try await router.response(for: URLEndPoint(.post, url)).text }
        _ = try await begun.first()
        _ = try await router.response(for: URLEndPoint(.delete, url))
        gate.open()
        #expect(try await post.value == "POST")
        #expect(try await router.response(for: URLEndPoint(.get, url)).text == "GET")
    }
}
