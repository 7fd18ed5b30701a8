@testable import SwitchboardAuth
import Foundation
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@testable import Switchboard

@Suite(.timeLimit(.minutes(10)))
struct CompositeAuthTests {
    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://api.example.com" + path)) }

    private func composite(_ keys: KeyAuthenticator = KeyAuthenticator()) -> CompositeAuth {
        CompositeAuth([
            "user": AuthenticationInterceptor(keys, clock: TestClock()),
            "app": APIKeyAuth("k", in: .header("X-Api-Key")),
            "old": BasicAuth(user: "Aladdin", password: "open sesame"),
        ]) { request in
            if request.path.hasPrefix("/me") { return .named("user") }
            return request.path == "/free" ? .none : request.path == "/odd" ? .automatic : .named("app")
        }
    }

    @Test("a closure or the request selects the method; none passes through", .requirement("S2.22"))
    func picks() async throws {
        let session = StubSession { _ in .text("ok") }
        func send(_ path: String, _ choice: RequestOptions.Authentication = .automatic) async throws -> [String] {
            let router = Router<URLEndPoint>(
                session: session, interceptors: [composite()],
                options: RequestOptions { $0.authentication = choice })
            _ = try await router.response(for: URLEndPoint(.get, url(path)))
            return session.requests.last?.headers.filter { $0.name != "Accept" }.map(\.value) ?? []
        }
        #expect(try await send("/me") == ["Key 1"])
        #expect(try await send("/films") == ["k"])
        #expect(try await send("/free") == [])
        #expect(try await send("/odd") == [])
        #expect(try await send("/me", .none) == [])
        #expect(try await send("/free", .named("old")) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
    }

    @Test("an unknown name is a typed error, and nothing is sent", .requirement("S2.22"))
    func unknown() async throws {
        let session = StubSession { _ in .text("ok") }
        let router = Router<URLEndPoint>(
            session: session, interceptors: [composite()],
            options: RequestOptions { $0.authentication = .named("nobody") })
        let error = await #expect(throws: NetworkError.self) {
            try await router.response(for: URLEndPoint(.get, url("/")))
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.reason?.contains("nobody") == true)
        #expect(session.requests.isEmpty)
    }

    @Test("the selected method sends and resends through the rest of the chain", .requirement("S2.22"))
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

    @Test("resets its parts and adapts a request as the selected method does", .requirement("S2.17", "S2.22"))
    func partsAndPlan() async throws {
        let keys = KeyAuthenticator()
        let composite = composite(keys)
        #expect(composite.resettableParts.count == 1)
        for part in composite.resettableParts { await part.reset() }
        #expect(keys.resets.all.count == 1)
        var request = NetworkRequest(.get, try url("/films"))
        try await composite.adapt(&request)
        #expect(request.headers["X-Api-Key"] == "k")
        request.headers = [:]
        request.options.authentication = .none
        try await composite.adapt(&request)
        #expect(request.headers.isEmpty)
    }

    @Test("a canceled router cancels the closure that selects the method", .requirement("S2.16"))
    func cancellation() async throws {
        let (began, gate) = (Deliveries<Bool>(), Gate())
        let auth = CompositeAuth([:]) { _ in
            began.add(true)
            try? await gate.wait()
            return .none
        }
        let router = Router<URLEndPoint>(session: StubSession { _ in .text("ok") }, interceptors: [auth])
        let call = Task { try await router.response(for: URLEndPoint(.get, url("/"))) }
        _ = try await began.first()
        router.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
