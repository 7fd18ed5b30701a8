import Foundation
import SwitchboardTesting
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(3)))
struct CompositeAuthTests {
    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://api.example.com" + path)) }

    private func composite(_ keys: KeyAuthenticator = KeyAuthenticator()) -> CompositeAuth {
        CompositeAuth([
            "user": AuthenticationInterceptor(keys), "app": APIKeyAuth("k", in: .header("X-Api-Key")),
            "old": BasicAuth(user: "Aladdin", password: "open sesame"),
        ]) { request in
            if request.path.hasPrefix("/me") { return .named("user") }
            return request.path == "/free" ? .none : request.path == "/odd" ? .automatic : .named("app")
        }
    }

    @Test("S2.22 the method is picked for each request, by a closure or by the request; none passes through")
    func picks() async throws {
        let session = StubSession { _ in .text("ok") }
        func send(_ path: String, _ choice: AuthenticationChoice = .automatic) async throws -> [String] {
            let router = Router<URLEndPoint>(
                session: session, interceptors: [composite()],
                builder: RequestBuilder(headers: [:], options: RequestOptions { $0.authentication = choice }))
            _ = try await router.response(for: URLEndPoint(.get, url(path)))
            return session.requests.last?.headers.map(\.value) ?? []
        }
        #expect(try await send("/me") == ["Key 1"])
        #expect(try await send("/films") == ["k"])
        #expect(try await send("/free") == [])
        #expect(try await send("/odd") == [])
        #expect(try await send("/me", .none) == [])
        #expect(try await send("/free", .named("old")) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test("S2.22 a name that is none is a typed error, nothing is sent")
    func unknown() async throws {
        let session = StubSession { _ in .text("ok") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [composite()],
            builder: RequestBuilder(options: RequestOptions { $0.authentication = .named("nobody") }))
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url("/")))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("nobody") == true)
        #expect(session.requests.isEmpty)
    }

    @Test("S2.22 the method chosen shares the rest of the chain, and sends again through it")
    func sharedTail() async throws {
        let session = KeyServer(2).session
        let seen = Deliveries<String?>()
        let tail = AdHocInterceptor { request, next in
            seen.add(request.headers["Authorization"])
            return try await next(request)
        }
        let router = Router<URLEndPoint>(session: session, interceptors: [composite(), tail])
        _ = try await router.response(for: URLEndPoint(.get, url("/me")))
        #expect(seen.all == ["Key 1", "Key 2"])
    }

    @Test("S2.17 S2.22 its parts are reset, and its plan names the method")
    func partsAndPlan() async throws {
        let keys = KeyAuthenticator()
        let composite = composite(keys)
        #expect(composite.resettableParts.count == 1)
        for part in composite.resettableParts { await part.reset() }
        #expect(keys.resets.all.count == 1)
        var request = NetworkRequest(.get, try url("/films"))
        #expect(await composite.plan(for: &request) == ["authenticates by \"app\"", "adds the header field X-Api-Key"])
        #expect(request.headers["X-Api-Key"] == "k")
        request.options.authentication = .none
        #expect(await composite.plan(for: &request) == ["adds no credentials: no method is chosen"])
    }
}

@Suite(.timeLimit(.minutes(3)))
struct ChallengeHeaderExchangeTests {
    private let name = "X-Transmission-Session-Id"

    /// Answers as Transmission does: 409 with the id until it is sent.
    private func transmission(_ ids: Deliveries<String>) -> MockServer.Handler {
        { [name] request in
            let id = ids.all.last ?? ""
            return request.headers[name] == id ? .json(#"{"result":"success"}"#) : .status(409, headers: [name: id])
        }
    }

    @Test(
        "the header of a 409 is sent back, once, and with later requests at once, over sockets",
        arguments: SessionKind.allCases)
    func exchange(kind: SessionKind) async throws {
        let ids = Deliveries<String>()
        ids.add("id-1")
        try await MockServer.run(handler: transmission(ids)) { server in
            let router = Router<URLEndPoint>(session: kind.make(), interceptors: [ChallengeHeaderExchange.transmission])
            let rpc = URLEndPoint(
                .post, server.url, task: .requestBody(DataBody(Data(#"{"method":"session-get"}"#.utf8))))
            func send() async throws { _ = try await router.response(for: rpc) }
            try await send()
            try await send()
            #expect(server.requests.map { $0.headers[name] } == [nil, "id-1", "id-1"])
            ids.add("id-2")
            try await send()
            #expect(server.requests.map { $0.headers[name] }.suffix(2) == ["id-1", "id-2"])
            #expect(Set(server.requests.map(\.text)) == [#"{"method":"session-get"}"#])
        }
    }

    @Test(
        "one retry: a server that never agrees ends; without the header, or with a bad one, the refusal is the result")
    func ends() async throws {
        let count = Deliveries<Bool>()
        let url = URL(text: "http://example.com/rpc")
        let changing = StubSession { [name] _ in
            count.add(true)
            return .status(409, headers: [name: "id-\(count.all.count)"])
        }
        func failure(_ session: StubSession, _ exchange: ChallengeHeaderExchange = .transmission) async -> NetworkError?
        {
            let router = Router<URLEndPoint>(session: session, interceptors: [exchange])
            return await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        }
        #expect(await failure(changing)?.status == 409)
        #expect(changing.requests.count == 2)
        for value in ["", String(repeating: "x", count: 10_000)] {
            let session = StubSession { [name] _ in .status(409, headers: [name: value]) }
            #expect(await failure(session)?.status == 409)
            #expect(session.requests.count == 1)
        }
        let other = StubSession { [name] _ in .status(403, headers: [name: "id"]) }
        #expect(await failure(other)?.status == 403)
        #expect(other.requests.count == 1)
    }

    @Test("S2.17 statuses and names are configurable; each origin has its value; a reset forgets it")
    func configured() async throws {
        let session = StubSession { request in
            request.headers["X-CSRF"] == request.host ? .text("ok") : .status(401, headers: ["X-Token": request.host])
        }
        let exchange = ChallengeHeaderExchange(header: "X-Token", as: "X-CSRF")
        let router = Router<URLEndPoint>(session: session, interceptors: [exchange])
        for host in ["a.example", "b.example", "a.example"] {
            _ = try await router.response(for: URLEndPoint(.get, try #require(URL(string: "https://\(host)/"))))
        }
        #expect(session.requests.map { $0.headers["X-CSRF"] } == [nil, "a.example", nil, "b.example", "a.example"])
        var request = NetworkRequest(.get, URL(text: "https://a.example/x"))
        #expect(await exchange.plan(for: &request) == ["adds X-CSRF"])
        await exchange.reset()
        _ = try await router.response(for: URLEndPoint(.get, URL(text: "https://a.example/")))
        #expect(session.requests.suffix(2).map { $0.headers["X-CSRF"] } == [nil, "a.example"])
    }
}
