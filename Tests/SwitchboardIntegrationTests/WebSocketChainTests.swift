import Foundation
import Switchboard
import SwitchboardAuth
import SwitchboardCache
import SwitchboardCookies
import SwitchboardResilience
import SwitchboardTestSupport
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

/// The handshake of a WebSocket with a login, cookies and a cache.
@Suite("WebSocket handshake with other products", .timeLimit(.minutes(10))) struct WebSocketChainTests {
    private func endPoint(_ server: MockServer, _ path: String = "chat") -> URLEndPoint {
        URLEndPoint(.get, server.url.appending(path: path))
    }

    @Test("a handshake that gets a 401 after the refresh throws it")
    func refused() async throws {
        let keys = KeyAuthenticator()
        let session = StubSession { _ in .status(401) }
        let router = Router<URLEndPoint>(session: session, interceptors: [AuthenticationInterceptor(keys)])
        let failure = await #expect(throws: NetworkError.self) {
            try await router.webSocket(for: URLEndPoint(.get, URL(text: "https://example.com/chat")))
        }
        #expect(failure?.code == .unauthorized && keys.refreshes.all == [1] && session.requests.count == 2)
    }

    @Test("a token that expired is refreshed before the next connection")
    func reconnecting() async throws {
        let keys = KeyAuthenticator()
        let session = StubSession(
            .webSocket(.text("1"), .drop), .status(401), .webSocket(.text("2"), .close()))
        let router = Router<URLEndPoint>(
            session: session,
            interceptors: [RetryPolicy(clock: TestClock(skips: true)), AuthenticationInterceptor(keys)])
        let socket = try await router.webSocket(
            for: URLEndPoint(.get, URL(text: "https://example.com/chat")), sending: String.self,
            receiving: String.self, options: RequestOptions { $0.webSocket.reconnects = true })
        let texts = try await socket.elements()
        #expect(texts == ["1", "2"] && keys.refreshes.all == [1])
        #expect(session.requests.map { $0.headers["Authorization"] } == ["Key 1", "Key 1", "Key 2"])
    }

    @Test("a socket reconnects after a refresh that fails temporarily")
    func temporaryFailureOfRefresh() async throws {
        let clock = TestClock(skips: true)
        let tokens = Router<URLEndPoint>(session: StubSession(.status(503), .text("2")))
        let keys = KeyAuthenticator { _, _ in
            let response = try await tokens.response(for: URLEndPoint(.get, URL(text: "https://login.example.com/")))
            return Key(number: Int(response.text) ?? 0)
        }
        let session = StubSession(
            .webSocket(.text("1"), .drop), .status(401), .status(401), .webSocket(.text("2"), .close()))
        let router = Router<URLEndPoint>(session: session, interceptors: [AuthenticationInterceptor(keys)])
        let socket = try await router.webSocket(
            for: URLEndPoint(.get, URL(text: "https://example.com/chat")), sending: String.self,
            receiving: String.self,
            options: RequestOptions {
                $0.webSocket.reconnects = true
                $0.retry = RetryPolicy(clock: clock)
            })
        let texts = try await socket.elements()
        #expect(texts == ["1", "2"] && keys.refreshes.all == [1, 1])
    }

    @Test("a socket reconnects after an open circuit")
    func openCircuit() async throws {
        let clock = TestClock(skips: true)
        let breaker = CircuitBreaker(failures: 1, openFor: .seconds(20), clock: clock)
        let session = StubSession(
            .webSocket(.text("1"), .drop), .failure(.cannotConnect), .webSocket(.text("2"), .close()))
        let router = Router<URLEndPoint>(session: session, interceptors: [breaker])
        let socket = try await router.webSocket(
            for: URLEndPoint(.get, URL(text: "https://example.com/chat")), sending: String.self,
            receiving: String.self,
            options: RequestOptions {
                $0.webSocket.reconnects = true
                $0.retry = RetryPolicy(maximumAttempts: 10, baseDelay: .seconds(2), jitter: nil, clock: clock)
            })
        let texts = try await socket.elements()
        #expect(texts == ["1", "2"])
        // The circuit is open from 2 to 22 seconds.
        #expect(clock.sleeps == [.seconds(2), .seconds(4), .seconds(8), .seconds(16)])
        #expect(session.requests.count == 3)
    }

    @Test("a stored response of the URL does not answer the handshake")
    func cached() async throws {
        let session = StubSession(
            .text("page", headers: ["Cache-Control": "max-age=86400"]), .webSocket(.text("in")))
        let router = Router<URLEndPoint>(session: session, exchangeInterceptors: [ResponseCache()])
        let endPoint = URLEndPoint(.get, URL(text: "https://example.com/chat"))
        _ = try await router.response(for: endPoint)
        let message = try await router.webSocket(for: endPoint).receive()
        #expect(message == .text("in") && session.requests.count == 2)
    }

    #if os(Linux)
    @Test("two sockets whose handshakes get a 401 share one refresh of the token")
    func refresh() async throws {
        let keys = KeyAuthenticator()
        try await MockServer.run { request in
            request.headers["Authorization"] == "Key 2" ? .webSocket(.text("in")) : .status(401)
        } body: { server in
            let router = Router<URLEndPoint>(
                session: CurlSession(), interceptors: [AuthenticationInterceptor(keys)])
            try await withThrowingTaskGroup(of: WebSocketMessage?.self) { group in
                for _ in 0..<2 {
                    group.addTask { try await router.webSocket(for: endPoint(server)).receive() }
                }
                for try await message in group { #expect(message == .text("in")) }
            }
            #expect(keys.refreshes.all == [1])
        }
    }

    @Test("the handshake has the endpoint's fields, and a 401 refreshes the key")
    func handshake() async throws {
        try await MockServer.run { server in
            server.enqueue(.status(401), .webSocket(.text("in"), subprotocol: "v2"))
            let login = AuthenticationInterceptor(KeyAuthenticator())
            let socket = try await Router<URLEndPoint>(session: CurlSession(), interceptors: [login]).webSocket(
                for: endPoint(server), options: RequestOptions { $0.webSocket.subprotocols = ["v1", "v2"] })
            let first = try await socket.receive()
            #expect(first == .text("in") && socket.subprotocol == "v2")
            let keys = server.requests.map { $0.headers["Sec-WebSocket-Key"] ?? "" }
            #expect(Set(keys).count == 2)
            #expect(server.requests.map { $0.headers["Sec-WebSocket-Protocol"] } == ["v1, v2", "v1, v2"])
        }
    }

    @Test("the jar's cookies go with the handshake; those of the 101 are stored")
    func cookies() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .status(200, headers: ["Set-Cookie": "id=1"]),
                .webSocket(.text("in"), headers: ["Set-Cookie": "room=7"]), .text("end"))
            let router = Router<URLEndPoint>(session: CurlSession(), exchangeInterceptors: [CookieInterceptor()])
            _ = try await router.response(for: endPoint(server, "login"))
            let socket = try await router.webSocket(for: endPoint(server))
            let message = try await socket.receive()
            #expect(message == .text("in"))
            _ = try await router.response(for: endPoint(server, "end"))
            #expect(server.requests.map { $0.headers["Cookie"] } == [nil, "id=1", "id=1; room=7"])
        }
    }
    #endif
}
