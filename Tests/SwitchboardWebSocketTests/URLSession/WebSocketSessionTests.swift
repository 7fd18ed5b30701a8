import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// WebSockets over each session.
@Suite("WebSocket sessions", .timeLimit(.minutes(10))) struct WebSocketSessionTests {
    private func open(
        _ kind: SessionKind, _ server: MockServer, _ interceptors: [any Interceptor] = [],
        clock: any Clock<Duration> = ContinuousClock(), _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        var options = RequestOptions()
        change(&options)
        let router = Router<URLEndPoint>(session: await kind.makeForWebSockets(), interceptors: interceptors)
        let headers: HTTPHeaders = ["X-App": "films"]
        return try await router.webSocket(
            for: URLEndPoint(.get, server.url.appending(path: "chat"), headers: headers), options: options,
            clock: clock)
    }

    @Test("text and binary come back [WebSocket messages]", arguments: SessionKind.allCases)
    func echoes(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let socket = try await open(kind, server)
            for count in [0, 1, 125, 126, 65_536, 300_000] {
                for message in [
                    WebSocketMessage.text(String(repeating: "é", count: count)), .binary(Data(count: count)),
                ] {
                    try await socket.send(message)
                    let answer = try await socket.receive()
                    #expect(answer == message)
                }
            }
            #expect(socket.metrics.messagesSent == 12 && socket.metrics.messagesReceived == 12)
            #expect(socket.metrics.bytesReceived == 3 * (1 + 125 + 126 + 65_536 + 300_000))
            let request = try #require(server.requests.first)
            #expect(request.headers["X-App"] == "films" && request.headers["Sec-WebSocket-Version"] == "13")
        }
    }

    @Test("concurrent messages arrive whole [WebSocket messages]", arguments: SessionKind.allCases)
    func concurrent(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let socket = try await open(kind, server)
            let sending = Task {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for sender in 0..<8 {
                        group.addTask {
                            for number in 0..<50 { try await socket.send(.text("\(sender) \(number)")) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            var next = Array(repeating: 0, count: 8)
            for _ in 0..<400 {
                guard case .text(let text)? = try await socket.receive() else { break }
                let parts = text.split(separator: " ").compactMap { Int($0) }
                #expect(parts.count == 2 && next[parts[0]] == parts[1])
                next[parts[0]] += 1
            }
            try await sending.value
            #expect(next == Array(repeating: 50, count: 8))
        }
    }

    @Test("the server's code and reason end the loop [WebSocket closes]", arguments: SessionKind.allCases)
    func closedByServer(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("last"), .receive, .close(1001, reason: "done")))
            let socket = try await open(kind, server)
            var messages: [WebSocketMessage] = []
            for try await message in socket {
                messages.append(message)
                try? await socket.send(.text("read"))  // The server may close the socket before this returns.
            }
            #expect(messages == [.text("last")])
            #expect(socket.closure?.text == "1001 done by the server")
            let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
            #expect(late?.code == .webSocketClosed)
        }
    }

    @Test("the server gets the app's code and reason [WebSocket closes]", arguments: SessionKind.allCases)
    func closedByApp(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1")))
            let socket = try await open(kind, server)
            _ = try await socket.receive()
            await socket.close(.policyViolation, reason: "bye")
            #expect(socket.closure?.text == "1008 bye")
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1008 && seen.closeReason == "bye")
            let end = try await socket.receive()
            #expect(end == nil)
        }
    }

    @Test("a connection without a Close frame is lost [WebSocket closes]", arguments: SessionKind.allCases)
    func lost(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("one"), .receive, .drop))
            let socket = try await open(kind, server)
            let first = try await socket.receive()
            #expect(first == .text("one"))
            try await socket.send(.text("go"))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .connectionLost && socket.closure == nil)
            let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
            #expect(late?.code == .connectionLost)
        }
    }

    @Test("a lost connection is opened again [WebSocket reconnecting]", arguments: SessionKind.allCases)
    func reconnects(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .webSocket(.text("1"), .receive, .drop), .status(503), .webSocket(.text("2"), .receive, .close()))
            let clock = TestClock(skips: true)
            let socket = try await open(kind, server, clock: clock) { $0.webSocket.reconnects = true }
            var messages: [WebSocketMessage] = []
            for try await message in socket {
                messages.append(message)
                try await socket.send(.text("next"))
            }
            #expect(messages == [.text("1"), .text("2")] && server.requests.count == 3)
        }
    }

    @Test("401s and redirects are handled [WebSocket handshakes]", arguments: SessionKind.allCases)
    func handshake(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(
                .status(401), .redirect(to: "/moved"), .webSocket(.text("in"), subprotocol: "v2"))
            let login = AdHocInterceptor { request, next in
                var request = request
                request.headers["Authorization"] = "Key 1"
                let response = try await next(request)
                guard response.statusCode == 401 else { return response }
                request.headers["Authorization"] = "Key 2"
                return try await next(request)
            }
            let socket = try await open(kind, server, [login]) { $0.webSocket.subprotocols = ["v1", "v2"] }
            let first = try await socket.receive()
            #expect(first == .text("in") && socket.subprotocol == "v2")
            #expect(server.requests.map(\.target) == ["/chat", "/chat", "/moved"])
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Key 1", "Key 2", "Key 2"])
            #expect(server.requests.allSatisfy { $0.headers["Sec-WebSocket-Protocol"] == "v1, v2" })
        }
    }

    @Test("a refused handshake has status and fields [WebSocket handshakes]", arguments: SessionKind.allCases)
    func refused(kind: SessionKind) async throws {
        for (status, code) in [(404, NetworkError.Code.notFound), (503, .error5xx), (200, .unexpectedStatus)] {
            try await MockServer.run { server in
                server.enqueue(.text("no", statusCode: status, headers: ["X-Why": "full"]))
                let failure = await #expect(throws: NetworkError.self) { try await open(kind, server) }
                #expect(failure?.code == code)
                if status != 200 { #expect(failure?.statusCode == status && failure?.headers?["X-Why"] == "full") }
            }
        }
    }

    @Test(
        "a refused handshake keeps its body [the body of a refused handshake]",
        arguments: SessionKind.allCases.filter { $0 == .curl })
    func refusedWithBody(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("no", statusCode: 404))
            let failure = await #expect(throws: NetworkError.self) { try await open(kind, server) }
            #expect(failure?.body == Data("no".utf8))
        }
    }

    @Test("the idle timeout ends a silent handshake [WebSocket handshakes]", arguments: SessionKind.allCases)
    func silentHandshake(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let failure = await #expect(throws: NetworkError.self) {
                try await open(kind, server) { $0.timeouts.idle = .milliseconds(200) }
            }
            #expect(failure?.code == .timedOut)
            #expect(failure?.reason?.contains("timeouts.idle") == true)
        }
    }

    @Test("pings are answered on both sides [WebSocket pings]", arguments: SessionKind.allCases)
    func pings(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.ping(Data("server".utf8)), .receive, .text("after")))
            let socket = try await open(kind, server)
            try await socket.ping()
            try await socket.ping()
            try await socket.send(.text("go"))
            let message = try await socket.receive()
            #expect(message == .text("after"))
        }
    }

    @Test("a server that answers no ping is left [WebSocket pings]", arguments: SessionKind.allCases)
    func silence(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let clock = TestClock()
            let socket = try await open(kind, server, clock: clock) { $0.webSocket.pingInterval = .seconds(20) }
            for _ in 0..<2 {
                _ = try await clock.nextSleep()
                clock.advance(by: .seconds(20))
            }
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .timedOut)
        }
    }

    @Test("a message beyond the limit closes with 1009 [WebSocket limits]", arguments: SessionKind.allCases)
    func limit(kind: SessionKind) async throws {
        for count in [1_001, 50_000] {
            try await MockServer.run { server in
                server.enqueue(.webSocket(.binary(Data(count: 1_000)), .receive, .binary(Data(count: count))))
                let socket = try await open(kind, server) { $0.webSocket.messageLimit = 1_000 }
                let first = try await socket.receive()
                #expect(first == .binary(Data(count: 1_000)))
                try await socket.send(.text("more"))
                let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
                #expect(failure?.code == .responseTooLarge && socket.closure?.code == .messageTooBig)
                let seen = try await server.takeWebSocket()
                #expect(seen.closeCode == 1009)
            }
        }
    }

    @Test("canceling a read ends the connection [WebSocket cancellation]", arguments: SessionKind.allCases)
    func cancelling(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1")))
            let socket = try await open(kind, server)
            let begun = Gate()
            let reading = Task {
                for try await _ in socket { begun.open() }
            }
            try await begun.wait()
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
        }
    }

    @Test("releasing the socket ends the connection [WebSocket cancellation]", arguments: SessionKind.allCases)
    func releasing(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            var socket: WebSocket<WebSocketMessage, WebSocketMessage>? = try await open(kind, server)
            #expect(socket != nil)
            socket = nil
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
        }
    }

    @Test(
        "canceling or resetting the router ends its sockets [WebSocket cancellation]", arguments: SessionKind.allCases,
        [false, true])
    func cancellingRouter(kind: SessionKind, isReset: Bool) async throws {
        try await MockServer.run { server in
            for reconnects in [false, true] {
                server.enqueue(.webSocket(.text("1"), .stall))
                let router = Router<URLEndPoint>(session: await kind.makeForWebSockets())
                let options = RequestOptions { $0.webSocket.reconnects = reconnects }
                let socket = try await router.webSocket(for: URLEndPoint(.get, server.url), options: options)
                #expect(try await socket.receive() == .text("1"))
                if isReset { await router.reset() } else { router.cancel() }
                await #expect(throws: CancellationError.self) { try await socket.receive() }
                try await server.waitForDisconnect()
            }
        }
    }

    @Test("canceling the router after the handshake ends it [WebSocket cancellation]", arguments: SessionKind.allCases)
    func cancellingAfterHandshake(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .stall))
            let own = Protected<Router<URLEndPoint>?>(nil)
            let canceling = AdHocInterceptor { request, next in
                let response = try await next(request)
                own.value?.cancel()
                return response
            }
            let router = Router<URLEndPoint>(session: await kind.makeForWebSockets(), interceptors: [canceling])
            _ = own.swap(router)
            await #expect(throws: CancellationError.self) {
                let socket = try await router.webSocket(for: URLEndPoint(.get, server.url))
                while try await socket.receive() != nil {}
            }
            try await server.waitForDisconnect()
            _ = own.swap(nil)
        }
    }

    @Test("canceling a handshake ends it [WebSocket cancellation]", arguments: SessionKind.allCases)
    func cancellingHandshake(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let opening = Task { try await open(kind, server) }
            _ = try await server.takeRequest()
            opening.cancel()
            await #expect(throws: CancellationError.self) { try await opening.value }
            try await server.waitForDisconnect()
        }
    }

    @Test("a cassette records both directions [WebSocket recordings]", arguments: SessionKind.allCases)
    func recorded(kind: SessionKind) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.receive, .text("b"), .receive, .close()))
            try await withFolder { folder in
                let file = folder.appending(path: "chat.har")
                let session = await kind.makeForWebSockets()
                let recorder = try Cassette(file: file, mode: .recordMissing, recording: session)
                for cassette in [recorder, nil] {
                    let cassette = try cassette ?? Cassette(file: file, mode: .replay, recording: StubSession())
                    let socket = try await Router<URLEndPoint>(session: cassette).webSocket(
                        for: URLEndPoint(.get, server.url), sending: String.self, receiving: String.self)
                    try await socket.send("a")
                    var texts: [String] = []
                    for try await text in socket {
                        texts.append(text)
                        try await socket.send("c")
                    }
                    #expect(texts == ["b"] && socket.closure?.code == .normalClosure)
                    try cassette.save()
                }
            }
        }
    }
}
