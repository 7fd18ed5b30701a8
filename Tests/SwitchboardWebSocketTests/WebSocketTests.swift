#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing
@testable import SwitchboardWebSocket

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

    @Test("a server that does not answer a Close frame is left after the timeout")
    func closeTimeout() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let clock = TestClock()
            let socket = try await router(server).webSocket(
                for: endPoint(server) { $0.webSocket.closeTimeout = .seconds(3) }, clock: clock)
            async let closing: Void = socket.close()
            #expect(try await clock.nextSleep() == .seconds(3))
            clock.advance(by: .seconds(3))
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
            // The socket stops reading at its limit. Far less than the 40 MB has arrived: the rest waits in the server.
            let inbox = try await socket.connections.current().inbox
            func arrived() -> Bool { socket.metrics.bytesReceived >= 2_000_000 }
            #expect(await comesTrue { inbox.hasWaitingWriter || arrived() })
            #expect(!arrived())
            for _ in 1..<400 {
                let message = try await socket.receive()
                #expect(message == .binary(Data(count: 100_000)))
            }
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

    /// Returns hexadecimal digits, which deflate to a little more than half of their number.
    private func digits(_ count: Int) -> String {
        var random = SeededGenerator(seed: 8)
        return String((0..<count).map { _ in "0123456789abcdef".randomElement(using: &random)! })
    }

    /// Returns the sizes of the payloads that a server receives, and whether the last two are equal.
    private func sent(
        _ texts: [String], answer: String, _ compression: WebSocketCompression = WebSocketCompression()
    ) async throws -> (sizes: [Int], isRepeated: Bool) {
        try await MockServer.run { server in
            let steps = texts.map { _ in WebSocketStep.receive } + [.close()]
            let fields: HTTPHeaders = ["Sec-WebSocket-Extensions": "permessage-deflate" + answer]
            server.enqueue(.webSocket(steps: steps, headers: fields))
            let socket = try await open(server) { $0.webSocket.compression = compression }
            for text in texts { try await socket.send(.text(text)) }
            let payloads = try await server.takeWebSocket().messages.map(\.payload)
            return (payloads.map(\.count), payloads.suffix(2).first == payloads.last)
        }
    }

    @Test("only a message of at least the threshold is compressed")
    func threshold() async throws {
        var compression = WebSocketCompression()
        compression.threshold = 100
        let texts = [99, 100].map { String(repeating: "a", count: $0) }
        let sizes = try await sent(texts, answer: "", compression).sizes
        #expect(sizes.count == 2 && sizes[0] == 99 && sizes[1] < 40)
    }

    // RFC 7692 §7.1.1.2: without a context, no message refers to an earlier one.
    @Test(
        "a sent message refers to earlier ones unless one side forbids it",
        arguments: [
            (true, "", true), (true, "; server_no_context_takeover", true),
            (true, "; client_no_context_takeover", false), (false, "", false),
        ])
    func ownContext(isAllowed: Bool, answer: String, isKept: Bool) async throws {
        var compression = WebSocketCompression()
        compression.allowsClientContextTakeover = isAllowed
        let (sizes, isRepeated) = try await sent([digits(600), digits(600)], answer: answer, compression)
        #expect(sizes.count == 2 && sizes[0] > 300 && sizes[0] < 500)
        #expect(isKept ? sizes[1] < 50 : isRepeated)
    }

    // The payloads are those of RFC 7692 §7.2.3.2. The second one refers to the first.
    @Test("a received message may refer to earlier ones unless forbidden", arguments: ["client", "server"])
    func serverContext(side: String) async throws {
        try await MockServer.run { server in
            let hello = Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
            let again = Data([0xF2, 0x00, 0x11, 0x00, 0x00])
            let fields: HTTPHeaders = [
                "Sec-WebSocket-Extensions": "permessage-deflate; \(side)_no_context_takeover"
            ]
            server.enqueue(
                .webSocket(
                    .frame(0x1, hello, reserved: 4), .frame(0x1, again, reserved: 4), .close(), headers: fields))
            let socket = try await open(server) { $0.webSocket.compression = WebSocketCompression() }
            #expect(try await socket.receive() == .text("Hello"))
            if side == "client" {
                #expect(try await socket.receive() == .text("Hello"))
            } else {
                let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
                #expect(failure?.code == .invalidResponse)
            }
        }
    }

    // RFC 7692 §7.1.2.2: a window of 2^9 bytes. What is 600 bytes before is outside.
    @Test("a sent message keeps to the window of the server", arguments: [(9, false), (15, true)])
    func window(bits: Int, isLarge: Bool) async throws {
        let texts = [digits(600) + digits(600)]
        let sizes = try await sent(texts, answer: "; client_max_window_bits=\(bits)").sizes
        #expect(sizes.count == 1 && (sizes[0] < 500) == isLarge)
    }

    @Test("the defaults of the options are those of the documentation")
    func defaults() {
        let options = WebSocketOptions()
        #expect(options.messageLimit == 16_777_216 && options.receiveBufferLimit == 1_048_576)
        #expect(options.closeTimeout == .seconds(10) && options.pingInterval == nil && !options.reconnects)
        #expect(options.compression == nil && options.subprotocols.isEmpty)
        let compression = WebSocketCompression()
        #expect(compression.threshold == 256)
        #expect(compression.allowsClientContextTakeover && compression.allowsServerContextTakeover)
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
