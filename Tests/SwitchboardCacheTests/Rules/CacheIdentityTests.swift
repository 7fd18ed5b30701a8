import Foundation
import Switchboard
import SwitchboardCache
import SwitchboardPlatform
import SwitchboardTestSupport
import SwitchboardTesting
import Testing

/// No user gets another user's response, wherever the cache is in the list.
@Suite(.timeLimit(.minutes(10)))
struct CacheIdentityTests {
    private let url = URL(text: "https://h.example.com/me")
    private let user = Deliveries<String>()
    private let stored = RequestOptions { $0.cacheLifetime = .unlimited }

    /// Adds a field, or a query item, with the user's name.
    private func login(_ field: String) -> AdHocInterceptor {
        AdHocInterceptor { [user] request, next in
            var request = request
            let name = user.all.last ?? ""
            if field.hasPrefix("?") {
                request.query = "\(field.dropFirst())=\(name)"
            } else {
                request.headers[field] = name
            }
            return try await next(request)
        }
    }

    /// Returns the texts that two users get, each twice.
    private func answers(_ session: any NetworkSession, _ interceptors: [any Interceptor]) async throws -> [String] {
        let router = Router<URLEndPoint>(session: session, interceptors: interceptors)
        var texts: [String] = []
        for name in ["anna", "ben", "anna", "ben"] {
            user.add(name)
            texts.append(try await router.response(for: URLEndPoint(.get, url, options: stored)).text)
        }
        return texts
    }

    @Test(
        "each user gets their own response, wherever credentials are added",
        .requirement("S1.14"),
        arguments: [
            "Authorization", "X-Session-Id", "X-Auth", "DPoP", "X-User-Id", "Cookie", "Accept-Language",
            "?access_token",
            "?user",
        ])
    func anyCredential(field: String) async throws {
        for isBehind in [true, false] {
            let session = StubSession { request in
                .text(request.headers[field] ?? request.query.map { String($0.split(separator: "=")[1]) } ?? "nobody")
            }
            let chain: [any Interceptor] = [ResponseCache(), login(field)]
            let texts = try await answers(session, isBehind ? chain.reversed() : chain)
            #expect(texts == ["anna", "ben", "anna", "ben"])
            // Before the login the cache cannot attribute a response, and stores none.
            #expect(session.requests.count == (isBehind ? 2 : 4))
        }
    }

    @Test("a response cached before a sign-in is not served after it", .requirement("S1.14"))
    func signedInLater() async throws {
        for isBearer in [true, false] {
            let user = Deliveries<String>()
            let login: any Interceptor =
                isBearer
                ? BearerAuth { user.all.last }
                : BasicAuth { user.all.last.map { BasicCredentials(user: $0, password: "p") } }
            let session = StubSession { .text($0.headers["Authorization"] == nil ? "nobody's" : "somebody's") }
            let router = Router<URLEndPoint>(session: session, interceptors: [ResponseCache(), login])
            func get(_ choice: RequestOptions.Authentication) async throws -> String {
                let options = RequestOptions {
                    $0.cacheLifetime = .time(.seconds(86_400))
                    $0.authentication = choice
                }
                let url = URL(text: "https://api.example.com/list")
                return try await router.response(for: URLEndPoint(.get, url, options: options)).text
            }
            #expect(try await get(.optional) == "nobody's")
            #expect(try await get(.anonymous) == "nobody's")
            user.add("anna")
            #expect(try await get(.optional) == "somebody's")
            // The response to an anonymous request belongs to no user, so it was stored.
            #expect(try await get(.anonymous) == "nobody's")
        }
    }

    @Test("a response after a redirect without credentials is not shared", .requirement("S1.14"))
    func redirect() async throws {
        let session = StubSession { request in
            request.url?.host == "h.example.com"
                ? .redirect(to: "https://cdn.example.com/\(request.headers["Authorization"] ?? "-")")
                : .text(String(request.path.dropFirst()))
        }
        #expect(
            try await answers(session, [ResponseCache(), login("Authorization")]) == ["anna", "ben", "anna", "ben"])
    }

    @Test("a cache hit does not carry the stored response's Set-Cookie")
    func setCookie() async throws {
        let session = StubSession { _ in .text("cart", headers: ["Set-Cookie": "session=v1; Path=/"]) }
        let fixture = CacheFixture(session)
        #expect(try await fixture.response().headers["Set-Cookie"] != nil)
        let second = try await fixture.response()
        #expect(second.text == "cart" && second.cacheAge != nil && second.headers["Set-Cookie"] == nil)
    }

    @Test("a 304 to the app's own condition has the server's cookies")
    func condition() async throws {
        let fields: HTTPHeaders = ["ETag": "\"1\"", "Cache-Control": "max-age=60, stale-if-error=60"]
        let fixture = CacheFixture(
            StubSession(.text("old", headers: fields), .status(304, headers: fields.merging(["Set-Cookie": "sid=1"]))))
        _ = try await fixture.response("https://h/", .server)
        fixture.date.advance(by: 61)
        for cookie in ["sid=1", nil] {
            let answer = try await fixture.answer(["If-None-Match": "\"1\""])
            #expect(answer.statusCode == 304 && answer.headers["Set-Cookie"] == cookie)
        }
    }

    @Test("a 304's fields for one user do not reach another")
    func confirmation() async throws {
        let session = StubSession { request in
            let name = request.headers["Authorization"] ?? ""
            return request.headers["If-None-Match"] == nil
                ? .text("news", headers: ["ETag": "\"1\"", "Cache-Control": "max-age=0"])
                : .status(304, headers: ["ETag": "\"1\"", "X-Hello": name, "Cache-Control": "max-age=86400"])
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [login("Authorization")], exchangeInterceptors: [ResponseCache()])
        for (name, hello) in [("anna", nil), ("anna", "anna"), ("ben", nil), ("ben", "ben")] as [(String, String?)] {
            user.add(name)
            let response = try await router.response(for: URLEndPoint(.get, url))
            #expect(response.text == "news" && response.headers["X-Hello"] == hello)
        }
    }

    @Test("a response without its request is not stored")
    func rebuilt() async throws {
        let rebuild = AdHocInterceptor { request, next in
            let response = try await next(request)
            return NetworkResponse(statusCode: response.statusCode, body: response.body, url: response.url)
        }
        let session = StubSession { .text($0.headers["Authorization"] ?? "-") }
        let cache = ResponseCache(identity: { _ in "everybody" })
        #expect(
            try await answers(session, [cache, rebuild, login("Authorization")]) == ["anna", "ben", "anna", "ben"])
    }

    @Test("with an identity, hits skip later interceptors; Vary still counts", .requirement("S1.14"))
    func identity() async throws {
        let session = StubSession { .text($0.headers["Authorization"] ?? "-") }
        let asked = Deliveries<Void>()
        let token = AdHocInterceptor { request, next in
            asked.add(())
            return try await next(request)
        }
        let cache = ResponseCache(identity: { [user] _ in user.all.last })
        #expect(
            try await answers(session, [cache, token, login("Authorization")]) == ["anna", "ben", "anna", "ben"])
        #expect(asked.all.count == 2)
        let varying = StubSession { .text($0.headers["X-Lang"] ?? "-", headers: ["Vary": "X-Lang"]) }
        let other = ResponseCache(identity: { _ in "everybody" })
        #expect(try await answers(varying, [other, login("X-Lang")]) == ["anna", "ben", "anna", "ben"])
    }

    private func expectNoKey(in folder: URL) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let content = try Data(contentsOf: folder.appendingPathComponent(name))
            #expect(content.range(of: Data("secret-key-1".utf8)) == nil)
        }
    }

    @Test("with an identity, a key that is added to the query is not stored")
    func queryKey() async throws {
        try await withFolder { folder in
            let fields: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            let session = StubSession(.text("x", headers: fields), .status(304, headers: fields))
            let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
            let cache = try ResponseCache(folder: folder, identity: { _ in "me" }, now: { date.now })
            let router = Router<URLEndPoint>(
                session: session, interceptors: [cache, APIKeyAuth("secret-key-1", in: .query("k"))])
            for outcome in [.miss(.notStored), .hit] as [ResponseCache.Outcome] {
                #expect(try await router.response(for: URLEndPoint(.get, url)).cacheOutcome == outcome)
            }
            try expectNoKey(in: folder)
            date.advance(by: 61)
            let validated = try await router.response(for: URLEndPoint(.get, url))
            #expect(validated.cacheOutcome == .validated(.expired) && validated.text == "x")
            #expect(session.requests.map(\.query) == ["k=secret-key-1", "k=secret-key-1"])
        }
    }

    @Test(
        "behind a redirect, a key that is added to the query is not stored",
        arguments: [[:], ["Cache-Control": "max-age=60"]] as [HTTPHeaders])
    func queryKeyAfterRedirect(fields: HTTPHeaders) async throws {
        try await withFolder { folder in
            let session = StubSession { request in
                request.path == "/me"
                    ? .redirect(to: "/b", headers: fields) : .text("x", headers: ["Cache-Control": "max-age=60"])
            }
            let date = TestDate(Date(timeIntervalSince1970: 1_700_000_000))
            let cache = try ResponseCache(folder: folder, identity: { _ in "me" }, now: { date.now })
            let router = Router<URLEndPoint>(
                session: session, exchangeInterceptors: [cache, APIKeyAuth("secret-key-1", in: .query("k"))])
            for outcome in [.miss(.notStored), .hit] as [ResponseCache.Outcome] {
                #expect(try await router.response(for: URLEndPoint(.get, url)).cacheOutcome == outcome)
            }
            #expect(session.requests.map(\.path) == (fields.isEmpty ? ["/me", "/b", "/me"] : ["/me", "/b"]))
            try expectNoKey(in: folder)
        }
    }

    @Test("a response is not stored if another user signed in during its request", .requirement("S1.14"))
    func changedUser() async throws {
        let (arrived, gate) = (Deliveries<Bool>(), Gate())
        let wait = AdHocInterceptor { request, next in
            arrived.open()
            try await gate.wait()
            return try await next(request)
        }
        let session = StubSession { .text($0.headers["Authorization"] ?? "-") }
        let cache = ResponseCache(identity: { [user] _ in user.all.last })
        let router = Router<URLEndPoint>(session: session, interceptors: [cache, wait, login("Authorization")])
        let endPoint = URLEndPoint(.get, url, options: stored)
        user.add("anna")
        let first = Task { try await router.response(for: endPoint) }
        _ = try await arrived.first()
        user.add("ben")
        gate.open()
        let response = try await first.value
        #expect(response.text == "ben")
        #expect(response.notStoredReason == "its identity changed during the request")
        user.add("anna")
        let second = try await router.response(for: endPoint)
        #expect(second.text == "anna")
        #expect(session.requests.count == 2)
    }

    @Test("the answer to a user who signed in meanwhile removes no stored response")
    func keptForUser() async throws {
        let isChanging = Protected(false)
        let change = AdHocInterceptor { [user] request, next in
            if isChanging.value { user.add("ben") }
            return try await next(request)
        }
        let session = StubSession { $0.headers["Authorization"] == "ben" ? .status(404) : .text("for anna") }
        let cache = ResponseCache(identity: { [user] _ in user.all.last })
        let router = Router<URLEndPoint>(session: session, interceptors: [cache, change, login("Authorization")])
        user.add("anna")
        _ = try await router.response(for: URLEndPoint(.get, url, options: stored))
        _ = isChanging.swap(true)
        var reloading = stored
        reloading.cachePolicy = .reloadIgnoringLocalCacheData
        let other = try await router.rawResponse(for: URLEndPoint(.get, url, options: reloading))
        #expect(other.statusCode == 404)
        _ = isChanging.swap(false)
        user.add("anna")
        let kept = try await router.response(for: URLEndPoint(.get, url, options: stored))
        #expect(kept.text == "for anna" && session.requests.count == 2)
    }

    @Test("a HEAD of a user who signed in meanwhile removes no stored response")
    func keptAfterHead() async throws {
        let (begun, gate) = (Deliveries<Void>(), Gate())
        let session = AdHocSession { request in
            if begun.count(adding: ()) == 1 { try await gate.wait() }
            let length: HTTPHeaders = request.method == .head ? ["Content-Length": "999"] : [:]
            let text = request.method == .head ? "" : request.headers["Authorization"] ?? ""
            return NetworkResponse(statusCode: 200, headers: length, body: Data(text.utf8), url: request.url)
        }
        let (arrived, signedIn) = (Deliveries<Void>(), Gate())
        let wait = AdHocInterceptor { request, next in
            if request.method == .head {
                arrived.add(())
                try await signedIn.wait()
            }
            return try await next(request)
        }
        let cache = ResponseCache(identity: { [user] _ in user.all.last })
        let router = Router<URLEndPoint>(session: session, interceptors: [cache, wait, login("Authorization")])
        let endPoint = URLEndPoint(.get, url, options: stored)
        let headEndPoint = URLEndPoint(.head, url, options: stored)
        user.add("anna")
        let first = Task { try await router.response(for: endPoint) }
        _ = try await begun.first()
        let head = Task { try await router.response(for: headEndPoint) }
        _ = try await arrived.first()
        gate.open()
        #expect(try await first.value.text == "anna")
        user.add("ben")
        signedIn.open()
        _ = try await head.value
        user.add("anna")
        let kept = try await router.response(for: endPoint)
        #expect(kept.text == "anna" && kept.cacheOutcome == .hit)
    }

    @Test("a response reached through another origin is not stored by identity")
    func passedAnotherOrigin() async throws {
        let session = StubSession { _ in .text("ok") }
        session.enqueue(.redirect(to: "https://evil.example/"))
        session.enqueue(.redirect(to: "https://api.example.com/b"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [ResponseCache(identity: { _ in "everybody" })])
        let endPoint = URLEndPoint(
            .get, URL(text: "https://api.example.com/a"),
            options: RequestOptions { $0.cacheLifetime = .time(.seconds(86_400)) })
        for _ in 0..<3 { _ = try await router.response(for: endPoint) }
        #expect(session.requests.map(\.url?.path) == ["/a", "/", "/b", "/a"])
    }

    @Test("a redirect after a change removes the changed path's responses")
    func postRedirectGet() async throws {
        let session = StubSession { request in
            switch (request.method, request.path) {
            case (.post, _): .status(303, headers: ["Location": "/gone"])
            case (_, "/gone"): .status(404)
            default: .text("list")
            }
        }
        let fixture = CacheFixture(session)
        _ = try await fixture.get()
        _ = try? await fixture.response(method: .post)
        #expect(try await fixture.response().cacheAge == nil)
    }

    @Test(
        "requests whose identity is nil never share across credentials", .requirement("S1.14"),
        arguments: ["Authorization", "Cookie", "X-Session-Id", "?access_token"])
    func nilIdentity(field: String) async throws {
        for isBehind in [true, false] {
            let session = StubSession { request in
                .text(request.headers[field] ?? request.query.map { String($0.split(separator: "=")[1]) } ?? "nobody")
            }
            let chain: [any Interceptor] = [ResponseCache(identity: { $0.headers["X-Account"] }), login(field)]
            let texts = try await answers(session, isBehind ? chain.reversed() : chain)
            #expect(texts == ["anna", "ben", "anna", "ben"])
            #expect(session.requests.count == (isBehind ? 2 : 4))
        }
    }

    @Test("guests without identity and credentials share a response", .requirement("S1.14"))
    func guests() async throws {
        let session = StubSession { .text($0.headers["X-Account"] ?? "guest") }
        let fixture = CacheFixture(session) { ResponseCache(identity: { $0.headers["X-Account"] }, now: $0) }
        for _ in 1...2 { #expect(try await fixture.get() == "guest") }
        for _ in 1...2 { #expect(try await fixture.get(headers: ["X-Account": "anna"]) == "anna") }
        #expect(try await fixture.get(headers: ["X-Account": "anna", "X-Extra": "1"]) == "anna")
        #expect(session.requests.count == 2)
        // An empty name is an identity, and no guest.
        #expect(try await fixture.get(headers: ["X-Account": ""]) == "")
        #expect(try await fixture.get() == "guest")
    }

    @Test("an identity that reads like a guest's fields shares nothing with it", arguments: [false, true])
    func forged(isOnDisk: Bool) async throws {
        try await withFolder { folder in
            let forged = Deliveries<String>()
            let identity: ResponseCache.Identity = { _ in forged.all.last }
            let session = StubSession { .text($0.headers["Authorization"] ?? "-") }
            let fixture = try CacheFixture(session) {
                isOnDisk
                    ? try ResponseCache(folder: folder, memoryLimit: 0, identity: identity, now: $0)
                    : ResponseCache(identity: identity, now: $0)
            }
            #expect(try await fixture.get(headers: ["Authorization": "anna"]) == "anna")
            let texts = ["\naccept: application/json\nauthorization: anna", "", "\n"]
            for text in ["", "\0", "\0fields\n", "\0name\n"].flatMap({ start in texts.map { start + $0 } }) {
                forged.add(text)
                #expect(try await fixture.response(headers: ["Authorization": "ben"]).text == "ben")
            }
        }
    }
}
