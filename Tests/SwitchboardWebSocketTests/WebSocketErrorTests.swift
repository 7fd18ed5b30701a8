import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// The texts of errors that only a WebSocket has.
@Suite("WebSocket errors", .timeLimit(.minutes(10))) struct WebSocketErrorTests {
    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    private let endPoint = URLEndPoint(.get, URL(text: "https://example.com/chat"))

    private func open(_ response: MockResponse, limit: Int = 1_000) async throws -> Socket {
        try await Router<URLEndPoint>(session: StubSession(response)).webSocket(
            for: endPoint, options: RequestOptions { $0.webSocket.messageLimit = limit })
    }

    #if os(Linux)
    @Test("an accepted status other than 101 shows the request and the response")
    func refused() async throws {
        try await MockServer.run { server in
            server.enqueue(.text("<html>Sign in</html>", headers: ["X-Server": "1"]))
            let url = server.url.appending(path: "chat")
            let failure = await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                    for: URLEndPoint(.get, url), clock: TestClock())
            }
            #expect(
                failure?.code == .unexpectedStatus && failure?.statusCode == 200 && failure?.headers?["X-Server"] == "1"
            )
            #expect(failure?.url == url && failure?.method == .get && failure?.endPointName == "URLEndPoint")
            #expect(failure?.body == Data("<html>Sign in</html>".utf8) && failure?.request != nil)
            #expect(
                failure?.reason == "the server answered 200 instead of 101, so this path may be no WebSocket; "
                    + #"the body begins "<html>Sign in</html>""#)
            #expect(failure?.message == "Unexpected status (200)")
        }
    }

    // RFC 6455 §4.1: a client that uses a proxy asks it to open a connection to the host.
    @Test("a plain HTTP proxy tunnels a WebSocket")
    func proxy() async throws {
        try await MockServer.run { proxy in
            proxy.enqueue(.status(404))
            var configuration = SessionConfiguration()
            configuration.proxy = .http("127.0.0.1", port: proxy.port)
            let session = CurlSession(configuration: configuration)
            await #expect(throws: NetworkError.self) {
                try await Router<URLEndPoint>(session: session).webSocket(
                    for: URLEndPoint(.get, URL(text: "http://h.test/chat")))
            }
            #expect(proxy.requests.map(\.method) == [.connect])
        }
    }

    @Test("the error of an accepted status does not wait for all of a body")
    func endlessBody() async throws {
        try await RawServer.run { connection in
            _ = try connection.readHead()
            try connection.send(Data("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhello".utf8))
            try connection.stall()
        } body: { server in
            var failure: NetworkError?
            // The body of a busy server may be late.
            for _ in 0..<10 where failure?.body?.isEmpty ?? true {
                failure = await #expect(throws: NetworkError.self) {
                    try await Router<URLEndPoint>(session: CurlSession()).webSocket(for: URLEndPoint(.get, server.url))
                }
            }
            #expect(failure?.code == .unexpectedStatus && failure?.body == Data("hello".utf8))
        }
    }
    #endif

    @Test("a message above the limit is responseTooLarge with the limit's name")
    func limit() async throws {
        let socket = try await open(.webSocket(.binary(Data(count: 1_001))))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .responseTooLarge)
        #expect(
            failure?.summary
                == "The message is larger than the limit: webSocket.messageLimit is 1000 bytes; closed with 1009")
        #expect(failure?.message == "The message is larger than the limit")
        #expect(failure?.url?.absoluteString == "https://example.com/chat")
    }

    @Test("a violation says that the server violates the WebSocket protocol")
    func violation() async throws {
        let socket = try await open(.webSocket(.frame(0x3, Data())))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .invalidResponse)
        #expect(
            failure?.summary == "The server violates the WebSocket protocol: "
                + "the opcode 3 is reserved (RFC 6455 §5.2); closed with 1002")
        #expect(failure?.message == "The server violates the WebSocket protocol")
    }

    @Test("a wrong 101 says that it opens no WebSocket")
    func handshake() async throws {
        let failure = await #expect(throws: NetworkError.self) {
            try await open(.webSocket(.echo, subprotocol: "other"))
        }
        #expect(failure?.code == .invalidResponse)
        #expect(
            failure?.summary
                == #"The server's answer opens no WebSocket: the subprotocol "other" was not offered"#)
    }

    // RFC 6455 §4.1: the elements "MUST be non-empty strings … and MUST all be unique strings", without separators.
    @Test(
        "subprotocols that no server can read are refused and not sent",
        arguments: [["v1, v2"], ["chat", "chat"], ["my chat"], [""], ["v1", "v2;"]])
    func subprotocols(_ names: [String]) async throws {
        let session = StubSession(.webSocket(.echo))
        let router = Router<URLEndPoint>(session: session)
        let failure = await #expect(throws: NetworkError.self) {
            try await router.webSocket(for: endPoint, options: RequestOptions { $0.webSocket.subprotocols = names })
        }
        #expect(failure?.code == .invalidRequest && session.requests.isEmpty)
        #expect(failure?.reason?.contains("are not different tokens") == true)
    }

    #if os(Linux)
    @Test("a lost connection is described without words of HTTP", arguments: WebSocketWireTests.Route.allCases)
    func lost(_ route: WebSocketWireTests.Route) async throws {
        let ends = [
            (WebSocketStep.drop, "the server closed the connection without a Close frame"),
            (.reset, "the server reset the WebSocket connection"),
        ]
        for (end, reason) in ends {
            try await MockServer.run { server in
                server.enqueue(.webSocket(.text("1"), end))
                let socket = try await Router<URLEndPoint>(session: route.session).webSocket(
                    for: URLEndPoint(.get, server.url))
                let failure = await #expect(throws: NetworkError.self) { while try await socket.receive() != nil {} }
                #expect(failure?.code == .connectionLost && failure?.reason == reason)
                #expect(failure?.url == server.url)
            }
        }
    }
    #endif

    @Test("a message on a closed socket throws an error with both texts")
    func closed() async throws {
        let socket = try await open(.webSocket(.close(4000, reason: "bye")))
        let end = try await socket.receive()
        #expect(end == nil)
        let failures = await [
            #expect(throws: NetworkError.self) { try await socket.send(.text("late")) },
            #expect(throws: NetworkError.self) { try await socket.ping() },
        ]
        for failure in failures {
            #expect(failure?.code == .webSocketClosed && failure?.message == "The connection is closed")
            #expect(failure?.summary == "The WebSocket is closed: the server closed it with 4000: bye")
            #expect(failure?.url?.absoluteString == "https://example.com/chat")
        }
    }

    @Test("the reason of a Close frame is on one line in an error")
    func closeReason() async throws {
        let socket = try await open(.webSocket(.close(4000, reason: "a\nb\u{1B}[2J")))
        let end = try await socket.receive()
        #expect(end == nil)
        let failure = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
        let text = failure?.description ?? "\n"
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
    }

    @Test(
        "a base URL with a scheme of WebSockets names the URL to write",
        arguments: [
            ("ws://chat.example.com:8080/v1", "write http://chat.example.com:8080/v1"),
            ("wss://chat.example.com?token=s3cret", "write https://chat.example.com?token=<redacted>"),
            ("WSS://chat.example.com", "write https://chat.example.com"), ("ws://", nil), ("wsx://h", nil),
        ] as [(String, String?)])
    func scheme(_ text: String, _ advice: String?) async throws {
        let failure = #expect(throws: NetworkError.self) {
            try EnvironmentURLs([.production: text]).url(in: .production)
        }
        let fault = "has a scheme other than http and https"
        #expect(failure?.reason?.hasSuffix(advice.map { "\(fault): \($0)" } ?? fault) == true, "\(failure as Any)")
    }

    @Test("the text of a close code is its number")
    func closeCode() {
        #expect("\(WebSocketCloseCode.goingAway)" == "1001")
    }
}
