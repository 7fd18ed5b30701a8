import Foundation
import Switchboard
@testable import SwitchboardMocks
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

@Suite("Faults of WebSockets", .timeLimit(.minutes(10))) struct WebSocketFaultTests {
    /// Reads a socket to its end, with a clock that skips its pings' waits only when the server is silent.
    private func read(_ session: any NetworkSession, _ url: URL, isSilent: Bool) async throws -> [WebSocketMessage] {
        let options = RequestOptions {
            $0.webSocket.compression = WebSocketCompression()
            if isSilent { $0.webSocket.pingInterval = .seconds(20) }
        }
        let clock = TestClock()
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: URLEndPoint(.get, url), options: options, clock: clock)
        let pings = Task { while isSilent { clock.advance(by: try await clock.nextSleep()) } }
        defer { pings.cancel() }
        let messages = try await socket.elements()
        return messages
    }

    @Test(
        "each fault gives its error, over a server and a stub",
        arguments: MockFault.webSocket + MockFault.webSocketBombs)
    func faults(_ fault: MockFault) async throws {
        func check(_ session: any NetworkSession, _ url: URL) async throws {
            let isSilent = fault.code == .timedOut
            guard let code = fault.code else {
                let messages = try await read(session, url, isSilent: isSilent)
                #expect(messages == [.text("slow")])
                return
            }
            let failure = await #expect(throws: NetworkError.self) {
                try await read(session, url, isSilent: isSilent)
            }
            #expect(failure.map { code ~= $0 } == true, "\(failure as Any)")
        }
        #expect(!fault.needsSocket)
        try await check(StubSession(fault.response), #require(URL(string: "https://example.com/chat")))
        #if os(Linux)
        try await MockServer.run { server in
            server.enqueue(fault.response)
            try await check(CurlSession(), server.url)
        }
        #endif
    }

    @Test("a bomb ends when it exceeds the limit, far below its size")
    func bomb() async throws {
        let response = MockResponse.webSocket(
            .bomb(64 << 20), headers: ["Sec-WebSocket-Extensions": "permessage-deflate"])
        let options = RequestOptions {
            $0.webSocket.compression = WebSocketCompression()
            $0.webSocket.messageLimit = 128 << 20
        }
        let socket = try await Router<URLEndPoint>(session: StubSession(response)).webSocket(
            for: URLEndPoint(.get, #require(URL(string: "https://example.com/chat"))), options: options)
        let message = try await socket.receive()
        guard case .binary(let data) = message else { throw NetworkError(.unknown, reason: "no message") }
        #expect(data.count >= 64 << 20 && data.count < 65 << 20 && data.allSatisfy { $0 == 0 })
    }

    private let handshake =
        "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    // Masked with zeros.
    private let hi = Data([0x81, 0x82, 0, 0, 0, 0]) + Data("hi".utf8)
    private let normalClosure = Data([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xE8])

    /// Opens a WebSocket and reads the head of the 101.
    private func opened(_ server: MockServer) throws -> RawClient {
        let client = try RawClient(port: server.port).send(handshake)
        _ = client.read(through: "\r\n\r\n")
        return client
    }

    @Test("what a client sent is recorded, also when the script did not read it")
    func unreadRecord() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let client = try opened(server)
            client.send(hi + normalClosure).leave()
            let seen = try await server.takeWebSocket()
            #expect(seen.messages.map(\.text) == ["hi"] && seen.closeCode == 1000)
        }
    }

    @Test(
        "a request that is no handshake opens no WebSocket",
        arguments: [
            ("Connection: Upgrade", "Connection: keep-alive", 400),
            ("Upgrade: websocket", "Upgrade: h2c", 400), ("GET", "POST", 400), ("HTTP/1.1", "HTTP/1.0", 400),
            ("Version: 13", "Version: 8", 426), ("Sec-WebSocket-Version: 13\r\n", "", 426),
            ("dGhlIHNhbXBsZSBub25jZQ==", "x", 400), ("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "", 400),
        ])
    func noHandshake(part: String, replacement: String, status: Int) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("a")))
            let request = handshake.replacingOccurrences(of: part, with: replacement)
            let client = try RawClient(port: server.port).send(request)
            client.endSending()
            let answer = client.readAll().text
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(answer.contains("\r\nSec-WebSocket-Version: 13\r\n") == (status == 426))
            // RFC 9110 §7.8: a sender of Upgrade also sends the connection option.
            #expect(answer.contains("\r\nConnection: Upgrade, close\r\n") == (status == 426))
            #expect(server.faults.count == 1)
        }
    }

    @Test("a frame without a mask ends the WebSocket with the code 1002")
    func unmasked() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let client = try opened(server)
            _ = client.send(hi).read(through: "hi")
            client.send(Data([0x81, 2]) + Data("hi".utf8))
            #expect(client.readAllBytes().bytes.starts(with: [0x88, 24, 0x03, 0xEA]))
            let seen = try await server.takeWebSocket()
            #expect(seen.messages.map(\.text) == ["hi"])
        }
    }

    @Test(
        "a frame that breaks a rule ends the WebSocket with the code 1002",
        arguments: [
            [0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0],  // a message within a message
            [0x80, 0x80, 0, 0, 0, 0],  // a continuation without a message
            [0x83, 0x80, 0, 0, 0, 0], [0x8B, 0x80, 0, 0, 0, 0],  // unknown types
            [0x09, 0x80, 0, 0, 0, 0],  // a fragment of a ping
            [0x89, 0xFE, 0, 126, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 126),
        ] as [[UInt8]])
    func brokenFrames(bytes: [UInt8]) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.echo))
            let client = try opened(server).send(Data(bytes))
            let answer = client.readAllBytes().bytes
            #expect(answer.first == 0x88 && answer.dropFirst(2).starts(with: [0x03, 0xEA]))
            let seen = try await server.takeWebSocket()
            #expect(seen.messages.isEmpty)
        }
    }

    @Test("a stall does not answer frames that arrived before it")
    func silentFromTheStart() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let client = try RawClient(port: server.port).send(Data(handshake.utf8) + hi + normalClosure)
            _ = client.read(through: "\r\n\r\n")
            client.endSending()
            #expect(client.readAllBytes().bytes == [])
            try await server.waitForDisconnect()
            let seen = try await server.takeWebSocket()
            #expect(seen.messages.map(\.text) == ["hi"] && seen.closeCode == 1000)
        }
    }

    @Test("a ping is answered before the next step")
    func pingBetweenSteps() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .close()))
            let ping = Data([0x89, 0x80, 0, 0, 0, 0])
            let client = try RawClient(port: server.port).send(Data(handshake.utf8) + ping)
            _ = client.read(through: "\r\n\r\n")
            client.endSending()
            #expect(client.readAllBytes().bytes == [0x8A, 0, 0x81, 1, 0x31, 0x88, 2, 0x03, 0xE8])
        }
    }

    @Test(
        "a Close frame of the client is answered, unless the script sent one",
        arguments: [
            // The first byte of "hello" has the low bits of a Close frame.
            ([.bytes(Data([0x81, 5])), .bytes(Data("hello".utf8))], "hello"),
            ([.bytes(Data([0x81, 1]) + Data("a".utf8) + Data([0x88, 0x02, 0x03, 0xE8]))], "a"),
        ] as [([WebSocketStep], String)])
    func closeOnce(steps: [WebSocketStep], text: String) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(steps: steps))
            let client = try opened(server)
            _ = client.read(through: text)
            client.send(normalClosure)
            #expect(client.readAllBytes().bytes == [0x88, 0x02, 0x03, 0xE8])
        }
    }

    // A fragment of 255 bytes has a length of 16 bits.
    private let fragment = Data([0x00, 0xFE, 0, 255, 0, 0, 0, 0]) + Data(count: 255)
    private let firstFragment = Data([0x02, 0x80, 0, 0, 0, 0])
    private let lastFragment = Data([0x80, 0x80, 0, 0, 0, 0])

    @Test("thousands of fragments are read in linear time")
    func linearTime() {
        let growth = growth(from: 4_000, to: 32_000) { count in
            (count, (0..<count).reduce(into: firstFragment) { bytes, _ in bytes += fragment } + lastFragment)
        } _: { count, bytes in
            var scanner = MessageScanner(isOfClient: true)
            #expect(scanner.take(bytes).map(\.payload.count) == [count * 255])
        }
        #expect(growth < 24)
    }

    @Test("a message of 65,536 fragments is read")
    func manyFragments() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.receive, .close()))
            let client = try opened(server)
            var frames = firstFragment
            for _ in 0..<65_535 { frames += fragment }
            client.send(frames + lastFragment + normalClosure)
            _ = client.readAll()
            let seen = try await server.takeWebSocket()
            #expect(seen.messages.map(\.payload.count) == [65_535 * 255])
        }
    }
}
