import Foundation
import Switchboard
import SwitchboardTesting
import Testing

import SwitchboardTestSupport
@testable import SwitchboardCookies

@Suite(.timeLimit(.minutes(10)))
struct CookiesTests {
    private let url = URL(text: "https://a.example/login")

    private func router(
        _ session: any NetworkSession, _ interceptors: [any Interceptor] = [],
        _ cookies: CookieInterceptor = CookieInterceptor(),
        _ options: RequestOptions = RequestOptions()
    ) -> Router<URLEndPoint> {
        Router(
            session: session, interceptors: interceptors, exchangeInterceptors: [cookies],
            options: options)
    }

    @Test(
        "a cookie set on a redirect goes to its target, in any chain order",
        arguments: [
            [], [RedirectInterceptor(limit: 2)], [RedirectInterceptor(limit: 2), RetryPolicy()],
            [RetryPolicy(), RedirectInterceptor(limit: 2)],
        ] as [[any Interceptor]])
    func redirects(interceptors: [any Interceptor]) async throws {
        let session = StubSession(
            .redirect(to: "/home").setting("id=1; Path=/", "id=2; Path=/login"), .text("home"), .text("again"))
        let router = router(session, interceptors)
        _ = try await router.response(for: URLEndPoint(.post, url))
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(session.requests.map { $0.headers["Cookie"] } == [nil, "id=1", "id=2; id=1"])
    }

    @Test("the response to a credential provider's request sets no cookie")
    func providerError() async throws {
        let tokens = Router<URLEndPoint>(session: StubSession(.status(401).setting("sid=1")))
        let jar = CookieJar()
        let provided = BearerAuth { [url] in try await tokens.request(URLEndPoint(.get, url), as: String.self) }
        let router = Router<URLEndPoint>(
            session: StubSession(.text("ok")), exchangeInterceptors: [CookieInterceptor(jar), provided])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.statusCode == 401 && jar.cookies().isEmpty)
    }

    @Test("redirects between two hosts send each host its own cookies", arguments: SessionKind.allCases)
    func wire(kind: SessionKind) async throws {
        try await MockServer.run { server in
            // Two names of this machine, since cookies ignore ports (RFC 6265 §8.5).
            let there = "http://localhost:\(server.port)"
            server.enqueue(
                .redirect(to: "\(there)/middle").setting("here=1", "also=\"x y\""),
                .redirect(to: "\(server.url.absoluteString)").setting("there=2; Path=/"), .text("end"),
                .text("there").setting("there=; Max-Age=0; Path=/"), .text("there again"))
            let jar = CookieJar()
            let router = router(kind.make(), [], CookieInterceptor(jar))
            let response = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(response.text == "end")
            for _ in 0..<2 {
                _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: "\(there)/"))))
            }
            #expect(
                server.requests.map { $0.headers.values(for: "Cookie") }
                    == [[], [], [#"here=1; also="x y""#], ["there=2"], []])
            #expect(response.history.count == 3)
            #expect(jar.cookies().map(\.name) == ["here", "also"])
        }
    }

    @Test("the request's own cookies come first and win, in one field", arguments: SessionKind.allCases)
    func ownField(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("").setting("a=jar", "b=jar"), .text(""), .text(""))
            let router = router(kind.make())
            _ = try await router.response(for: URLEndPoint(.get, server.url))
            for own in [["a=own; c=own"], [""]] {
                let headers = HTTPHeaders(own.map { HTTPHeader(name: "Cookie", value: $0) })
                _ = try await router.response(for: URLEndPoint(.get, server.url, headers: headers))
            }
            #expect(
                server.requests.map { $0.headers.values(for: "Cookie") }
                    == [[], ["a=own; c=own; b=jar"], ["a=jar; b=jar"]])
        }
    }

    @Test("environments keep separate cookies")
    func environments() async throws {
        let session = StubSession(
            .text("").setting("a=staging"), .text("").setting("a=production"), .text(""), .text(""))
        let manager = NetworkManager(
            environment: .staging, session: session, exchangeInterceptors: [CookieInterceptor()])
        let endPoint = URLEndPoint(.get, url)
        _ = try await manager.response(for: endPoint)
        manager.environment = .production
        _ = try await manager.response(for: endPoint)
        _ = try await manager.response(for: endPoint)
        manager.environment = .staging
        _ = try await manager.response(for: endPoint)
        #expect(session.requests.map { $0.headers["Cookie"] } == [nil, nil, "a=production", "a=staging"])
    }

    @Test("cookies of a truncated response are stored", arguments: SessionKind.allCases)
    func truncated(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("abcdef").setting("a=1").truncated(after: 3), .text(""))
            let router = router(kind.make())
            await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, server.url)) }
            _ = try await router.response(for: URLEndPoint(.get, server.url))
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "a=1"])
        }
    }

    @Test("a retry sends the cookies that the previous attempt set")
    func retries() async throws {
        let session = StubSession(.status(503).setting("a=1"), .text("done"))
        let policy = RetryPolicy(clock: TestClock(skips: true))
        let response = try await router(session, [policy]).response(for: URLEndPoint(.get, url))
        #expect(session.requests.map { $0.headers["Cookie"] } == [nil, "a=1"])
        #expect(response.history.map(\.outcome) == [.status(503), .status(200)])
    }

    @Test("a hundred concurrent calls share a jar")
    func shared() async throws {
        let jar = CookieJar()
        let session = StubSession { request in
            .text("").setting("\(request.url?.lastPathComponent ?? "")=1; Path=/")
        }
        let (one, other) = (router(session, [], CookieInterceptor(jar)), router(session, [], CookieInterceptor(jar)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let url = try #require(URL(string: "https://a.example/n\(number)"))
                group.addTask { _ = try await (number % 2 == 0 ? one : other).response(for: URLEndPoint(.get, url)) }
            }
            try await group.waitForAll()
        }
        #expect(Set(jar.cookies().map(\.name)) == Set((0..<100).map { "n\($0)" }))
    }

    @Test("a plan lists the cookies and events count them, without values")
    func plan() async throws {
        let heard = Events()
        let session = StubSession(.text("").setting("id=hunter2; Path=/", "b=hunter2; Path=/"), .text(""))
        let router = router(session, [], CookieInterceptor(), RequestOptions { $0.monitors.append(heard) })
        _ = try await router.response(for: URLEndPoint(.get, url))
        let plan = await router.explain(URLEndPoint(.get, url))
        #expect(plan.interceptors == ["RedirectInterceptor", "CookieInterceptor"])
        #expect(plan.request?.headers["Cookie"] == "id=hunter2; b=hunter2")
        #expect(!plan.description.contains("hunter2"))
        #expect(session.requests.count == 1)
        _ = try await router.response(for: URLEndPoint(.get, url))
        let notes = heard.all.compactMap { if case .note(let text) = $0.kind { text } else { nil } }
        #expect(notes == ["the server sets 2 cookies", "sends 2 cookies"])
    }

    // RFC 9110 §9.3.8: it would be foolish to send cookies in a TRACE request.
    @Test("a TRACE request carries no cookie of the jar")
    func trace() async throws {
        let jar = CookieJar()
        try jar.set(StoredCookie("sid", "1", domain: "a.example"), in: nil)
        let session = StubSession { _ in .text("") }
        let router = router(session, [], CookieInterceptor(jar))
        for method in [HTTPMethod.trace, .options] { _ = try await router.response(for: URLEndPoint(method, url)) }
        #expect(session.requests.map { $0.headers["Cookie"] } == [nil, "sid=1"])
    }

    /// RFC 6265bis §5.2: a redirect chain through another site makes a request cross-site.
    @Test(
        "SameSite decides which cookies follow a redirect of another site",
        arguments: [
            ("https://evil.test/", HTTPMethod.get, "lax=1; none=1; own=1"), ("https://evil.test/", .post, "none=1"),
            ("https://www.api.test/", .post, "lax=1; none=1; own=1; strict=1"),
            ("https://api.test/b", .post, "lax=1; none=1; own=1; strict=1"),
        ])
    func sameSite(away: String, method: HTTPMethod, sent: String) async throws {
        let jar = CookieJar()
        for (name, sameSite) in [
            ("own", nil), ("lax", .lax), ("strict", .strict), ("none", StoredCookie.SameSite.none),
        ]
            as [(String, StoredCookie.SameSite?)]
        {
            try jar.set(StoredCookie(name, "1", domain: "api.test", sameSite: sameSite), in: nil)
        }
        let session = StubSession(
            .redirect(to: away, statusCode: 307), .redirect(to: "https://api.test/c", statusCode: 307), .text("end"))
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar)])
        _ = try await router.response(for: URLEndPoint(method, URL(text: "https://api.test/a")))
        let cookies = session.requests.last?.headers["Cookie"]?.components(separatedBy: "; ").sorted()
        #expect(cookies?.joined(separator: "; ") == sent)
    }

    /// RFC 6265bis §5.2 refers to the sites of the HTML standard: registrable domains, by the Public Suffix List.
    @Test(
        "a site is a registrable domain",
        arguments: [
            ("login.shop.test", "www.shop.test", true), ("a.b.shop.test", "c.shop.test", true),
            ("shop.test", "www.shop.test", true), ("www.shop.test", "shop.test", true),
            ("WWW.shop.test", "login.SHOP.test", true), ("shop.test", "bank.test", false),
            ("xshop.test", "shop.test", false), ("a.hosts.test", "b.hosts.test", false),
            ("hosts.test", "a.hosts.test", false), ("a.hosts.test", "hosts.test", false),
            ("x.a.hosts.test", "y.a.hosts.test", true), ("a.any.test", "b.any.test", false),
            ("localhost", "localhost", true), ("10.0.0.1", "11.0.0.1", false), ("10.0.0.1.", "11.0.0.1.", false),
            ("[fe80::1]", "[fe80::1]", true), ("shop.test.", "shop.test", false),
        ])
    func sites(host: String, target: String, isSameSite: Bool) async throws {
        let suffixes = ["test", "hosts.test", "a.any.test", "b.any.test", "localhost"]
        let jar = CookieJar(now: { Date() }, isPublicSuffix: { suffixes.contains($0) })
        let name = target.lowercased()
        try jar.set(StoredCookie("strict", "1", domain: name, sameSite: .strict), in: nil)
        let session = StubSession(.redirect(to: "https://\(target):8443/b"), .text("end"))
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [CookieInterceptor(jar)])
        _ = try await router.response(for: URLEndPoint(.get, #require(URL(string: "https://\(host)/a"))))
        #expect(session.requests.count == 2)
        #expect(session.requests.last?.headers["Cookie"] == (isSameSite ? "strict=1" : nil))
    }
}
