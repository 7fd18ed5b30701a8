#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// A socket over a server that plays scripts.
@Suite("WebSocket", .timeLimit(.minutes(10))) struct WebSocketTests {
    private struct Note: Codable, Sendable, Equatable { let text: String, number: Int }

    private func router(_ server: MockServer, _ interceptors: [any Interceptor] = []) -> Router<URLEndPoint> {
        Router(session: CurlSession(), interceptors: interceptors)
    }

    private func endPoint(_ server: MockServer, _ change: (inout RequestOptions) -> Void = { _ in }) -> URLEndPoint {
        var options = RequestOptions()
        change(&options)
        return URLEndPoint(.get, server.url.appending(path: "chat"), options: options)
    }

    private func open(
        _ server: MockServer, _ change: (inout RequestOptions) -> Void = { _ in }
    ) async throws -> WebSocket<WebSocketMessage, WebSocketMessage> {
        try await router(server).webSocket(for: endPoint(server, change))
    }

    @Test("values go as JSON, and come back until the server closes")
    func values() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.receive, .text(#"{"text":"é","number":2}"#), .close(1001, reason: "done")))
            let socket = try await router(server).webSocket(
                for: endPoint(server), sending: Note.self, receiving: Note.self)
            try await socket.send(Note(text: "hello", number: 1))
            let notes = try await socket.elements()
            #expect(notes == [Note(text: "é", number: 2)])
            #expect(
                socket.closure?.code == .goingAway && socket.closure?.reason == "done"
                    && socket.closure?.isFromServer == true)
            let seen = try await server.takeWebSocket()
            #expect(
                seen.messages.map(\.text) == [#"{"number":1,"text":"hello"}"#]
                    || seen.messages.map(\.text) == [#"{"text":"hello","number":1}"#])
            #expect(seen.closeCode == 1001)
        }
    }

    @Test("text and binary messages of each size come back", arguments: [0, 1, 125, 126, 65_536, 300_000])
    func echoes(_ count: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let socket = try await open(server)
            let messages: [WebSocketMessage] = [
                .text(String(repeating: "a", count: count)), .binary(Data(count: count)),
            ]
            for message in messages {
                try await socket.send(message)
                let answer = try await socket.receive()
                #expect(answer == message)
            }
            #expect(socket.metrics.messagesSent == 2 && socket.metrics.bytesReceived == Int64(2 * count))
            await socket.close(.normalClosure, reason: "bye")
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1000 && seen.closeReason == "bye")
            #expect(socket.closure?.isFromServer == false)
        }
    }

    @Test(
        "a status other than 101 throws its error",
        arguments: [(404, NetworkError.Code.notFound), (503, .error5xx), (200, .unexpectedStatus)])
    func refused(_ status: Int, _ code: NetworkError.Code) async throws {
        try await MockServer.run { server in
            server.enqueue(.text("no", statusCode: status))
            let failure = await #expect(throws: NetworkError.self) { try await open(server) }
            #expect(failure?.code == code)
        }
    }

    @Test("the idle timeout ends a handshake that gets no answer")
    func silentHandshake() async throws {
        try await MockServer.run { server in
            server.enqueue(.stall)
            let failure = await #expect(throws: NetworkError.self) {
                try await open(server) { $0.timeouts.idle = .milliseconds(200) }
            }
            #expect(failure?.code == .timedOut)
        }
    }

    @Test("a 101 that does not fit the key is refused")
    func wrongKey() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo, headers: ["Sec-WebSocket-Accept": "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="]))
            let failure = await #expect(throws: NetworkError.self) { try await open(server) }
            #expect(failure?.code == .invalidResponse)
            try await server.waitForDisconnect()
        }
    }

    @Test(
        "a frame that breaks a rule throws, and closes with its code",
        arguments: [
            (WebSocketStep.frame(0x1, Data("a".utf8), reserved: 4), 1002), (.frame(0x3, Data()), 1002),
            (.frame(0x1, Data(), isMasked: true), 1002), (.frame(0x0, Data()), 1002),
            (.frame(0x9, Data(count: 126)), 1002),
            (.text("\u{FEFF}"), nil), (.frame(0x1, Data([0xC3, 0x28])), 1007), (.frame(0x2, Data(count: 2_000)), 1009),
        ] as [(WebSocketStep, UInt16?)])
    func violations(_ step: WebSocketStep, _ code: UInt16?) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(step))
            let socket = try await open(server) { $0.webSocket.messageLimit = 1_000 }
            guard let code else {
                let message = try await socket.receive()
                #expect(message != nil)
                return
            }
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == (code == 1009 ? .responseTooLarge : .invalidResponse))
            #expect(socket.closure?.code.rawValue == code)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == code)
        }
    }

    @Test("a connection without a Close frame is lost", arguments: [WebSocketStep.drop, .reset])
    func lost(_ step: WebSocketStep) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("one"), .bytes(Data([0x81, 0x05, 0x61])), step))
            let socket = try await open(server)
            let first = try await socket.receive()
            #expect(first == .text("one"))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .connectionLost)
            #expect(socket.closure == nil)
            let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
            #expect(late?.code == .connectionLost)
        }
    }

    @Test("a ping is answered on both sides")
    func pings() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.ping(Data("server".utf8)), .receive, .text("after")))
            let socket = try await open(server)
            try await socket.ping()
            try await socket.send(.text("go"))
            let message = try await socket.receive()
            #expect(message == .text("after"))
        }
    }

    @Test("an interval of pings of zero or less keeps the socket open", arguments: [Duration.zero, .seconds(-1)])
    func noPings(interval: Duration) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let socket = try await router(server).webSocket(
                for: endPoint(server) { $0.webSocket.pingInterval = interval })
            for _ in 0..<100 {
                try await socket.send(.text("a"))
                #expect(try await socket.receive() == .text("a"))
            }
        }
    }

    @Test("a server that answers no ping is left")
    func silence() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let clock = TestClock()
            let socket = try await router(server).webSocket(
                for: endPoint(server) { $0.webSocket.pingInterval = .seconds(20) }, clock: clock)
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(20))
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(20))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .timedOut)
        }
    }

    @Test("a server that does not answer a Close frame is left after the timeout")
    func closeTimeout() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let clock = TestClock()
            let socket = try await router(server).webSocket(for: endPoint(server), clock: clock)
            async let closing: Void = socket.close()
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(10))
            await closing
            try await server.waitForDisconnect()
        }
    }

    @Test("a slow reader makes the server wait")
    func backPressure() async throws {
        try await MockServer.run { server in
            let steps = (0..<400).map { _ in WebSocketStep.binary(Data(count: 100_000)) }
            server.enqueue(.webSocket(steps: steps))
            let socket = try await open(server) { $0.webSocket.receiveBufferLimit = 200_000 }
            let first = try await socket.receive()
            #expect(first != nil)
            // Far less than the 40 MB has arrived: the rest waits in the server.
            #expect(socket.metrics.bytesReceived < 20_000_000)
            for _ in 1..<400 {
                let message = try await socket.receive()
                #expect(message == .binary(Data(count: 100_000)))
            }
        }
    }

    @Test("concurrent messages arrive whole, in the order of each sender")
    func concurrent() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let socket = try await open(server)
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

    @Test("messages of both sides are compressed")
    func compressed() async throws {
        try await MockServer.run { server in
            let hello = Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
            let fields: HTTPHeaders = ["Sec-WebSocket-Extensions": "permessage-deflate"]
            server.enqueue(.webSocket(.frame(0x1, hello, reserved: 4), .receive, .close(), headers: fields))
            let socket = try await open(server) { $0.webSocket.compression = WebSocketCompression() }
            let message = try await socket.receive()
            #expect(message == .text("Hello"))
            let long = String(repeating: "switchboard ", count: 200)
            try await socket.send(.text(long))
            #expect(socket.metrics.bytesSent < 100)
        }
    }

    @Test("a stubbed session gives a socket without a network")
    func stubbed() async throws {
        let session = StubSession(.webSocket(.receive, .text("hello"), .close(1000)))
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: URLEndPoint(.get, URL(text: "https://example.com/chat")), sending: String.self, receiving: String.self)
        try await socket.send("hi")
        let texts = try await socket.elements()
        #expect(texts == ["hello"])
    }

    @Test("a session without WebSockets throws unsupported")
    func unsupported() async throws {
        let router = Router<URLEndPoint>(session: FoundationSession())
        let failure = await #expect(throws: NetworkError.self) {
            try await router.webSocket(for: URLEndPoint(.get, URL(text: "http://127.0.0.1:9/")))
        }
        #expect(failure?.code == .unsupported)
    }

    @Test("a POST and a body are refused before anything is sent")
    func method() async throws {
        let session = StubSession(.webSocket(.echo))
        let failure = await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.post, URL(text: "https://example.com/chat")))
        }
        #expect(failure?.code == .invalidRequest)
        #expect(session.requests.isEmpty)
    }
}
#endif
