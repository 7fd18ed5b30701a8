@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct SimpleSchemeTests {
    private let url = URL(text: "https://api.example.com/a?x=1")

    private func sent(
        _ interceptor: any Interceptor, headers: HTTPHeaders = [:], url: URL? = nil,
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> NetworkRequest {
        let session = StubSession { _ in .text("ok") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [interceptor],
            options: RequestOptions(change))
        _ = try await router.response(for: URLEndPoint(.get, url ?? self.url, headers: headers))
        return try #require(session.requests.first)
    }

    @Test(
        "Basic credentials are UTF-8 in base64, as RFC 7617 specifies", .requirement("S2.20"),
        arguments: [
            // RFC 7617 §2 and §2.1
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
            // printf 'user:pa:ss' | base64; printf ':' | base64
            ("user", "pa:ss", "Basic dXNlcjpwYTpzcw=="), ("", "", "Basic Og=="),
        ])
    func basic(user: String, password: String, value: String) async throws {
        let request = try await sent(BasicAuth(user: user, password: password))
        #expect(request.headers["Authorization"] == value)
    }

    @Test(
        "a colon in the name or a control character is refused before sending", .requirement("S2.20"),
        arguments: [("an:na", "p"), ("anna\n", "p"), ("anna", "p\u{0}"), ("anna", "p\u{7F}")])
    func refusedUser(user: String, password: String) async throws {
        let session = StubSession { _ in .text("ok") }
        let router = Router<URLEndPoint>(session: session, interceptors: [BasicAuth(user: user, password: password)])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("RFC 7617") == true)
        #expect(session.requests.isEmpty)
    }

    @Test("fifty waiting requests share one provider call; the next calls again", .requirement("S2.20"))
    func providerAskedOnce() async throws {
        let asked = Deliveries<Bool>()
        let waiting = WaitingCounter()
        let session = StubSession { _ in .text("ok") }
        let auth = BasicAuth {
            asked.add(true)
            _ = try await waiting.values.wait(for: 50)
            return BasicCredentials(user: "Aladdin", password: "open sesame")
        }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [auth],
            options: RequestOptions { $0.monitors.append(waiting) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await router.response(for: URLEndPoint(.get, url)) } }
            try await group.waitForAll()
        }
        #expect(asked.all.count == 1)
        #expect(Set(session.authorizations) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        _ = try await router.response(for: URLEndPoint(.get, url))
        #expect(asked.all.count == 2)
    }

    @Test("a canceled waiter leaves at once; the last one cancels the provider", .requirement("S2.20"))
    func providerCancelled() async throws {
        let (asked, ended, gate) = (Deliveries<Bool>(), Deliveries<Bool>(), Deliveries<Bool>())
        let waiting = WaitingCounter()
        let auth = BearerAuth {
            asked.add(true)
            defer { ended.add(true) }
            _ = try await gate.first()
            return "late"
        }
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .text("ok") }, interceptors: [auth],
            options: RequestOptions { $0.monitors.append(waiting) })
        let calls = (0..<2).map { _ in Task { try await router.response(for: URLEndPoint(.get, url)) } }
        _ = try await waiting.values.wait(for: 2)
        _ = try await asked.first()
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        #expect(ended.all.isEmpty)
        router.cancel()
        await #expect(throws: CancellationError.self) { try await calls[1].value }
        _ = try await ended.first()
        #expect(asked.all.count == 1)
    }

    @Test("a provider runs once for each environment, also without a manager")
    func providerByEnvironment() async throws {
        let (asked, gate, waiting) = (Deliveries<Bool>(), Gate(), WaitingCounter())
        let auth = BearerAuth {
            let name = NetworkEnvironment.current.name
            asked.add(true)
            try await gate.wait()
            return name
        }
        let router = Router<URLEndPoint>(
            session: StubSession { request in .text(request.headers["Authorization"] ?? "none") }, interceptors: [auth],
            options: RequestOptions { $0.monitors.append(waiting) })
        func call(_ environment: NetworkEnvironment) -> Task<String, any Error> {
            Task {
                try await NetworkEnvironment.withCurrent(environment) {
                    try await router.request(URLEndPoint(.get, url), as: String.self)
                }
            }
        }
        let staging = call(.staging)
        _ = try await asked.first()
        let production = call(.production)
        _ = try await waiting.values.wait(for: 2)
        gate.open()
        #expect(try await staging.value == "Bearer staging")
        #expect(try await production.value == "Bearer production")
    }

    @Test("a provider's error becomes a typed error; nil sends no credentials")
    func providerFails() async throws {
        struct Locked: Error {}
        let router = Router<URLEndPoint>(
            session: StubSession { _ in .text("ok") }, interceptors: [BearerAuth { throw Locked() }])
        let error = await #expect(throws: NetworkError.self) { try await router.response(for: URLEndPoint(.get, url)) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.underlying is Locked)
        let cancelled = Router<URLEndPoint>(
            session: StubSession { _ in .text("ok") }, interceptors: [BearerAuth { throw CancellationError() }])
        let other = await #expect(throws: NetworkError.self) {
            try await cancelled.response(for: URLEndPoint(.get, url))
        }
        #expect(other?.code == .cannotAuthenticate)
        let request = try await sent(BearerAuth { nil })
        #expect(!request.headers.contains("Authorization"))
    }

    @Test("credentials of the request win: its field, its URL's user, its key", .requirement("S2.20"))
    func ownCredentials() async throws {
        for auth: any Interceptor in [BasicAuth(user: "a", password: "b"), BearerAuth("t")] {
            let request = try await sent(auth, headers: ["authorization": "Custom 1"])
            #expect(request.headers["Authorization"] == "Custom 1")
            let named = try await sent(auth, url: URL(text: "https://me:pw@api.example.com/"))
            #expect(!named.headers.contains("Authorization"))
        }
        let header = try await sent(APIKeyAuth("mine", in: .header("X-Api-Key")), headers: ["x-api-key": "own"])
        #expect(header.headers.values(for: "X-Api-Key") == ["own"])
        let query = try await sent(APIKeyAuth("mine", in: .query("x")))
        #expect(query.url == url)
    }

    @Test("a request may set separate credentials or no authentication", .requirement("S2.20"))
    func options() async throws {
        let auth = BasicAuth(user: "test", password: "x")
        let own = try await sent(auth) { $0.credentials = BasicCredentials(user: "Aladdin", password: "open sesame") }
        #expect(own.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        for auth: any Interceptor in [
            auth, BearerAuth("t"), APIKeyAuth("k", in: .header("X-Api-Key")), APIKeyAuth("k", in: .query("k")),
            RequestSigner { $0.headers["X-Sign"] = "1" },
        ] {
            let none = try await sent(auth) { $0.authentication = .none }
            #expect(!none.headers.contains { ["Authorization", "X-Api-Key", "X-Sign"].contains($0.name) })
            #expect(none.url == url)
        }
    }

    // RFC 9110 §9.3.8: "A client MUST NOT generate fields in a TRACE request containing sensitive data that might be
    // disclosed by the response."
    @Test("a TRACE request carries no credentials")
    func trace() async throws {
        for auth: any Interceptor in [
            BasicAuth(user: "test", password: "x"), BearerAuth("t"), APIKeyAuth("k", in: .header("X-Api-Key")),
            APIKeyAuth("k", in: .query("k")), RequestSigner { $0.headers["X-Sign"] = "1" },
        ] {
            let session = StubSession { _ in .text("ok") }
            let router = Router<URLEndPoint>(session: session, interceptors: [auth])
            _ = try await router.response(for: URLEndPoint(.trace, url))
            let sent = try #require(session.requests.first)
            #expect(!sent.headers.contains { ["Authorization", "X-Api-Key", "X-Sign"].contains($0.name) })
            #expect(sent.url == url)
        }
    }

    @Test("a TRACE request that requires a sign-in fails, and nothing is sent")
    func requiredTrace() async throws {
        let session = StubSession { _ in .text("ok") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [BearerAuth("t")],
            options: RequestOptions { $0.authentication = .required })
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.trace, url))
        }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.reason?.contains("a TRACE request carries no credentials") == true)
        #expect(session.requests.isEmpty)
    }

    @Test("sends a bearer token, and an API key in a header or escaped in a query")
    func bearerAndKey() async throws {
        #expect(try await sent(BearerAuth("mF_9.B5f-4.1JqM")).headers["Authorization"] == "Bearer mF_9.B5f-4.1JqM")
        let header = try await sent(APIKeyAuth("k&y", in: .header("X-Api-Key")))
        #expect(header.headers["X-Api-Key"] == "k&y")
        let query = try await sent(APIKeyAuth("k&y=/", in: .query("api key")))
        #expect(query.url?.absoluteString == "https://api.example.com/a?x=1&api%20key=k%26y%3D%2F")
        let bare = try await sent(APIKeyAuth("k", in: .query("key")), url: URL(text: "https://api.example.com"))
        #expect(bare.url?.query == "key=k")
    }

    @Test("a token with a line break is refused, and the error does not show it")
    func injection() async throws {
        for auth: any Interceptor in [BearerAuth("a\r\nX-Evil: 1"), APIKeyAuth("a\nb", in: .header("X-Api-Key"))] {
            let error = await #expect(throws: NetworkError.self) { try await sent(auth) }
            #expect(error?.code == .invalidRequest)
            #expect("\(String(describing: error))".contains("Evil") == false)
        }
    }

    @Test("a signer signs each finished attempt anew; its failure is typed")
    func signer() async throws {
        let bodies = Deliveries<Data>()
        let count = Deliveries<Bool>()
        let signer = RequestSigner { request in
            count.add(true)
            bodies.add(try request.body.encode())
            request.headers["X-Signature"] = "\(request.method) \(request.path) \(count.all.count)"
        }
        let session = StubSession(.status(503), .text("ok"))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [RetryPolicy(clock: TestClock(skips: true)), BearerAuth("t"), signer])
        _ = try await router.response(for: URLEndPoint(.put, url, task: .requestBody(DataBody(Data("b".utf8)))))
        #expect(session.requests.map { $0.headers["X-Signature"] } == ["PUT /a 1", "PUT /a 2"])
        #expect(bodies.all == [Data("b".utf8), Data("b".utf8)])
        struct NoKey: Error {}
        let error = await #expect(throws: NetworkError.self) { try await sent(RequestSigner { _ in throw NoKey() }) }
        #expect(error?.code == .cannotAuthenticate)
        #expect(error?.underlying is NoKey)
    }

    @Test("texts of credentials and their interceptors show no secret")
    func redacted() {
        let values: [Any] = [
            BasicCredentials(user: "anna", password: "s3cret"), BasicAuth(user: "anna", password: "s3cret"),
            BearerAuth("s3cret"), APIKeyAuth("s3cret", in: .query("k")),
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] {
                #expect(!text.contains("s3cret") && !text.contains("anna"))
            }
        }
    }

    @Test("explain shows the request's credentials or the error of adding them")
    func explained() async throws {
        func plan(_ interceptor: any Interceptor, headers: HTTPHeaders = [:]) async -> CallPlan {
            await Router<URLEndPoint>(session: StubSession(), interceptors: [interceptor])
                .explain(URLEndPoint(.get, url, headers: headers))
        }
        let basic = await plan(BasicAuth(user: "Aladdin", password: "open sesame"))
        #expect(basic.request?.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(await plan(BearerAuth { "t" }).request?.headers["Authorization"] == "Bearer t")
        #expect(await plan(BearerAuth("t"), headers: ["Authorization": "x"]).request?.headers["Authorization"] == "x")
        #expect(await plan(BasicAuth(user: "a:b", password: "")).error?.code == .invalidRequest)
        #expect(await plan(APIKeyAuth("k", in: .query("key"))).request?.url?.query == "x=1&key=k")
    }
}

/// Counts the calls that wait.
final class WaitingCounter: EventMonitor {
    let values = Deliveries<String>()

    func record(_ event: CallEvent) {
        if case .waiting(let what) = event.kind { values.add(what) }
    }
}
