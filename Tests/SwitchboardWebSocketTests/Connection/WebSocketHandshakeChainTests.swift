import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// The handshake in the chain of its router.
@Suite("WebSocket handshake in the chain", .timeLimit(.minutes(10))) struct WebSocketHandshakeChainTests {
    private func endPoint(_ server: MockServer, _ path: String = "chat") -> URLEndPoint {
        URLEndPoint(.get, server.url.appending(path: path))
    }

    #if os(Linux)

    @Test("open sockets leave the connections of the host to other calls")
    func connections() async throws {
        try await MockServer.run { request in
            request.path == "/text" ? .text("ok") : .webSocket(.text("in"))
        } body: { server in
            let session = CurlSession(configuration: SessionConfiguration(maximumConnectionsPerHost: 1))
            let router = Router<URLEndPoint>(session: session)
            var sockets: [WebSocket<WebSocketMessage, WebSocketMessage>] = []
            for _ in 0..<3 {
                let socket = try await router.webSocket(for: endPoint(server))
                _ = try await socket.receive()
                sockets.append(socket)
            }
            let response = try await router.response(for: endPoint(server, "text"))
            #expect(response.text == "ok")
            withExtendedLifetime(sockets) {}
        }
    }

    @Test("a socket takes none of the idle connections, whoever opened them")
    func idleConnections() async throws {
        try await MockServer.run { request in
            request.path == "/text" ? .text("ok") : .webSocket(.text("in"))
        } body: { server in
            let router = Router<URLEndPoint>(session: CurlSession())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { _ = try await router.response(for: endPoint(server, "text")) } }
                try await group.waitForAll()
            }
            let idle = server.connectionCount
            var sockets: [WebSocket<WebSocketMessage, WebSocketMessage>] = []
            for _ in 0..<8 {
                let socket = try await router.webSocket(for: endPoint(server))
                let message = try await socket.receive()
                #expect(message == .text("in"))
                sockets.append(socket)
            }
            _ = try await router.response(for: endPoint(server, "text"))
            #expect(server.connectionCount == idle + sockets.count)
        }
    }
    #endif

    #if os(Linux)
    @Test("a subprotocol that a header field of the endpoint offers is accepted")
    func ownOffer() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("in"), subprotocol: "v1"))
            let endPoint = URLEndPoint(.get, server.url, headers: ["Sec-WebSocket-Protocol": "v2, v1"])
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(for: endPoint)
            #expect(socket.subprotocol == "v1")
            #expect(server.requests.first?.headers.values(for: "Sec-WebSocket-Protocol") == ["v2, v1"])
        }
    }

    @Test("interceptors see the handshake and its 101, and their fields are sent")
    func interceptors() async throws {
        let seen = Deliveries<Int>()
        let stamp = AdHocInterceptor { request, next in
            var request = request
            request.headers["X-Stamp"] = "1"
            let response = try await next(request)
            seen.add(response.statusCode)
            return response
        }
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("in")))
            let router = Router<URLEndPoint>(session: CurlSession(), interceptors: [stamp])
            let socket = try await router.webSocket(for: endPoint(server))
            _ = try await socket.receive()
            #expect(server.requests.map { $0.headers["X-Stamp"] } == ["1"] && seen.all == [101])
        }
    }

    @Test("bytes that an interceptor wraps still end at a violation", arguments: [false, true])
    func wrappedBytes(isPaced: Bool) async throws {
        let wrapper = AdHocInterceptor { request, next in
            var response = try await next(request)
            let source = response.bytes
            response.bytes = ResponseBytes { try await source.next() }
            return response
        }
        let conditions = NetworkConditions(downloadBytesPerSecond: 1 << 20)
        let conditioner = NetworkConditioner(conditions, clock: TestClock(skips: true))
        let interceptor: any Interceptor = isPaced ? conditioner : wrapper
        try await MockServer.run { server in
            // The frame is the only one in its read.
            server.enqueue(.webSocket(.text("in"), .receive, .frame(0x3, Data())))
            let router = Router<URLEndPoint>(session: CurlSession(), interceptors: [interceptor])
            let socket = try await router.webSocket(for: endPoint(server))
            let message = try await socket.receive()
            #expect(message == .text("in"))
            try await socket.send(.text("out"))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .invalidResponse)
        }
    }

    @Test("a redirected handshake opens at its target, with a new key")
    func redirect() async throws {
        try await MockServer.run { server in
            server.enqueue(.redirect(to: "/other", statusCode: 307), .webSocket(.text("in")))
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(for: endPoint(server))
            let message = try await socket.receive()
            #expect(message == .text("in"))
            #expect(server.requests.map(\.path) == ["/chat", "/other"])
            #expect(Set(server.requests.compactMap { $0.headers["Sec-WebSocket-Key"] }).count == 2)
        }
    }

    @Test("subprotocols go to another origin only if the options allow it", arguments: [false, true])
    func otherOrigin(isAllowed: Bool) async throws {
        let options = RequestOptions {
            $0.webSocket.subprotocols = ["chat", "bearer", "s3cret"]
            if isAllowed { $0.headersToOtherOrigins = ["Sec-WebSocket-Protocol"] }
        }
        try await MockServer.run { other in
            other.enqueue(.webSocket(.text("in")))
            try await MockServer.run { server in
                server.enqueue(.redirect(to: other.url.absoluteString))
                let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                    for: endPoint(server), options: options)
                let message = try await socket.receive()
                #expect(message == .text("in"))
                let offers = [server, other].map { $0.requests.first?.headers["Sec-WebSocket-Protocol"] }
                #expect(offers == ["chat, bearer, s3cret", isAllowed ? "chat, bearer, s3cret" : nil])
            }
        }
    }
    #endif

    @Test("the plan of an endpoint shows the request of its handshake")
    func explained() async throws {
        let session = StubSession(.webSocket(.text("in")))
        let router = Router<URLEndPoint>(
            session: session, interceptors: [BearerAuth("abcdef"), RetryPolicy()])
        let endPoint = URLEndPoint(.get, URL(text: "https://example.com/chat?room=7"))
        let plan = await router.explain(endPoint)
        _ = try await router.webSocket(for: endPoint)
        let sent = try #require(session.requests.first)
        #expect(
            plan.request?.url == sent.url && plan.request?.headers["Authorization"] == sent.headers["Authorization"])
        #expect(plan.error == nil && session.requests.count == 1)
        #expect(plan.description.contains("GET https://example.com/chat?room=7"))
    }

    @Test("the handshake runs in the environment of its manager")
    func environments() async throws {
        let session = StubSession { _ in .webSocket(.text("in")) }
        let manager = NetworkManager(environment: .staging, session: session)
        let router = manager.router(for: ChatApi.self)
        _ = try await router.webSocket(for: .room)
        manager.environment = .production
        _ = try await router.webSocket(for: .room)
        #expect(session.requests.map(\.url?.host) == ["staging.example.com", "chat.example.com"])
    }

    @Test("a reconnected socket stays in the environment of its first connection")
    func stays() async throws {
        let session = StubSession(.webSocket(.text("1"), .drop), .webSocket(.text("2"), .close()))
        let clock = TestClock()
        let manager = NetworkManager(
            environment: .staging, session: session, interceptors: [RetryPolicy(jitter: nil, clock: clock)])
        let socket = try await manager.router(for: ChatApi.self).webSocket(
            for: .room, options: RequestOptions { $0.webSocket.reconnects = true })
        _ = try await socket.receive()
        let wait = try await clock.nextSleep()
        manager.environment = .production
        clock.advance(by: wait)
        let second = try await socket.receive()
        #expect(second == .text("2"))
        #expect(session.requests.map(\.url?.host) == ["staging.example.com", "staging.example.com"])
    }
}

private enum ChatApi: EndPointType {
    case room
    static let servers: EnvironmentURLs = [
        .production: "https://chat.example.com/", .staging: "https://staging.example.com/",
    ]
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    var path: String { "room" }
}
