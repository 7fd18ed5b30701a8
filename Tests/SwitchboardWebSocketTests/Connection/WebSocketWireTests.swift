#if os(Linux)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// Bytes and ends of a connection at awkward moments, over the socket of a session and through libcurl.
@Suite("WebSocket wire", .timeLimit(.minutes(10))) struct WebSocketWireTests {
    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    enum Route: CaseIterable {
        /// The session's own socket.
        case direct
        /// libcurl, because a proxy with TLS is configured. No host uses it.
        case libcurl

        var session: CurlSession {
            var configuration = SessionConfiguration()
            if self == .libcurl {
                configuration.proxy = .https("127.0.0.1", port: 9)
                configuration.proxy.bypass = ["*"]
            }
            return CurlSession(configuration: configuration)
        }
    }

    private func open(_ url: URL, _ route: Route, receiveBufferLimit: Int = 1 << 20) async throws -> Socket {
        let options = RequestOptions { $0.webSocket.receiveBufferLimit = receiveBufferLimit }
        return try await Router(session: route.session).webSocket(for: URLEndPoint(.get, url, options: options))
    }

    /// Answers the handshake and then sends bytes, all in one segment.
    private static func accept(
        _ connection: RawConnection, version: String = "HTTP/1.1", fields: String = "", then bytes: Data = Data()
    ) throws {
        let lines = try connection.readHead().components(separatedBy: "\r\n")
        let key = lines.first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
        let head =
            "\(version) 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "\(fields)Sec-WebSocket-Accept: \(try WebSocketHandshake.accept(for: String(key)))\r\n\r\n"
        try connection.send(Data(head.utf8) + bytes)
    }

    /// Runs a server that answers the handshake and then sends bytes, all in one segment.
    private func run(
        _ bytes: Data = Data(), then script: @escaping @Sendable (RawConnection) throws -> Void = { _ in },
        body: (URL) async throws -> Void
    ) async throws {
        try await RawServer.run { connection in
            try Self.accept(connection, then: bytes)
            try script(connection)
        } body: { server in
            try await body(server.url)
        }
    }

    @Test("messages after the 101 in one segment arrive", arguments: Route.allCases, [1, 100, 20_000])
    func bytesAfterHead(_ route: Route, _ count: Int) async throws {
        let frames = (0..<count).reduce(into: Data()) { bytes, _ in bytes += [0x81, 0x02, 0x61, 0x62] }
        try await run(frames) {
            try $0.stall()
        } body: { url in
            let socket = try await open(url, route)
            for _ in 0..<count {
                let message = try await socket.receive()
                #expect(message == .text("ab"))
            }
            #expect(socket.metrics.messagesReceived == count)
        }
    }

    @Test("an end of the connection in one pass with the 101 is noticed", arguments: Route.allCases)
    func endAfterHead(_ route: Route) async throws {
        for _ in 0..<20 {
            try await run(Data([0x81, 0x01, 0x61])) { _ in
            } body: { url in
                let socket = try await open(url, route)
                let message = try await socket.receive()
                #expect(message == .text("a"))
                let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
                #expect(failure?.code == .connectionLost)
            }
        }
    }

    @Test("a 101 of HTTP/1.0 is refused", arguments: Route.allCases)
    func oldVersion(_ route: Route) async throws {
        try await RawServer.run { connection in
            try Self.accept(connection, version: "HTTP/1.0")
            try connection.stall()
        } body: { server in
            let failure = await #expect(throws: NetworkError.self) { try await open(server.url, route) }
            #expect(failure?.code == .invalidResponse)
        }
    }

    /// A 101 has no content ([RFC 9110 §15.2](https://www.rfc-editor.org/rfc/rfc9110#section-15.2)).
    @Test(
        "fields that describe the content of a 101 have no effect", arguments: Route.allCases,
        ["Content-Encoding: gzip", "Content-Length: 0", "Transfer-Encoding: chunked"])
    func fieldsOfContent(_ route: Route, _ field: String) async throws {
        try await RawServer.run { connection in
            try Self.accept(connection, fields: field + "\r\n", then: Data([0x81, 0x01, 0x61]))
            try connection.stall()
        } body: { server in
            let socket = try await open(server.url, route)
            let message = try await socket.receive()
            #expect(message == .text("a"))
        }
    }

    @Test("after a refused 101, the end of a later connection is noticed", arguments: Route.allCases)
    func endAfterRefusal(_ route: Route) async throws {
        let isFirst = Protected(true)
        try await RawServer.run { connection in
            let isRefused = isFirst.swap(false)
            try Self.accept(connection, version: isRefused ? "HTTP/1.0" : "HTTP/1.1")
            if !isRefused { connection.endSending() }
            try connection.stall()
        } body: { server in
            let router = Router<URLEndPoint>(session: route.session)
            await #expect(throws: NetworkError.self) {
                try await router.webSocket(for: URLEndPoint(.get, server.url))
            }
            let socket = try await router.webSocket(for: URLEndPoint(.get, server.url))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .connectionLost)
        }
    }

    /// Waits for the client's first message, which is empty, and sends messages of 64 KiB. The session has taken its socket
    /// from libcurl then.
    private static func send(_ count: Int, over connection: RawConnection) throws {
        try connection.read(6)
        try connection.send(messages(count))
    }

    private static func messages(_ count: Int) -> Data {
        let frame = Data([0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]) + Data(count: 1 << 16)
        return (0..<count).reduce(into: Data()) { bytes, _ in bytes += frame }
    }

    enum End: CaseIterable { case close, fin, reset }

    @Test("the end is detected while the inbox is full", arguments: Route.allCases, End.allCases)
    func endWithFullInbox(_ route: Route, _ end: End) async throws {
        try await run { connection in
            // Fills the inbox and the pipe in front of it, of 512 KiB, but not the system's buffer, from 64 KiB on. Behind a
            // full one, the end does not reach the client.
            try Self.send(10, over: connection)
            if end == .reset {
                // Behind all buffers, so that the client has stopped reading.
                _ = try connection.send(Self.messages(256), givingUpAfter: .milliseconds(300))
                return connection.reset()
            }
            if end == .close { try connection.send(Data([0x88, 0x02, 0x0F, 0xA1])) }  // with the code 4001
            connection.endSending()
            try connection.stall()
        } body: { url in
            let socket = try await open(url, route, receiveBufferLimit: 1)
            try? await socket.send(.binary(Data()))  // throws if the server is faster
            for await state in socket.states {
                guard case .closed(let closure) = state else { continue }
                #expect(closure?.code.rawValue == (end == .close ? 4001 : nil))
            }
            var failure: NetworkError?
            do {
                while try await socket.receive() != nil {}
            } catch {
                failure = error as? NetworkError
            }
            #expect(failure?.code == (end == .close ? nil : .connectionLost))
            #expect(end == .reset || socket.metrics.messagesReceived == 10)
        }
    }

    @Test("a ping is answered while the inbox is full", arguments: Route.allCases)
    func pingWithFullInbox(_ route: Route) async throws {
        try await run { connection in
            try Self.send(30, over: connection)
            let ping = try connection.read(14)
            let payload = zip(ping[6...], 0...).map { byte, index in byte ^ ping[2 + index % 4] }
            try connection.send(Data([0x8A, 8] + payload))
            try connection.stall()
        } body: { url in
            let socket = try await open(url, route, receiveBufferLimit: 1 << 20)
            try? await socket.send(.binary(Data()))  // throws if the server is faster
            try await socket.ping()
            #expect(socket.metrics.messagesReceived == 30)
        }
    }

    @Test("a silent server is given up while the inbox is full", arguments: Route.allCases)
    func silenceWithFullInbox(_ route: Route) async throws {
        try await run { connection in
            try Self.send(30, over: connection)
            try connection.stall()
        } body: { url in
            let options = RequestOptions {
                $0.webSocket.receiveBufferLimit = 1 << 20
                $0.webSocket.pingInterval = .milliseconds(200)
            }
            let socket: Socket = try await Router(session: route.session)
                .webSocket(for: URLEndPoint(.get, url, options: options))
            try? await socket.send(.binary(Data()))  // throws if the server is faster
            for await _ in socket.states {}
            let failure = await #expect(throws: NetworkError.self) { while true { _ = try await socket.receive() } }
            #expect(failure?.code == .timedOut)
        }
    }

    @Test("a server that stops sending ends a blocked sender", arguments: Route.allCases)
    func endAmidSend(_ route: Route) async throws {
        let isFull = Gate()
        try await run(Data([0x81, 0x01, 0x61])) { connection in
            _ = try connection.hears(within: .seconds(300))
            try connection.pause(.milliseconds(300))
            connection.endSending()
            isFull.open()
            try connection.stall()
        } body: { url in
            let socket = try await open(url, route)
            let sending = Task { while true { try await socket.send(.binary(Data(count: 1 << 20))) } }
            try await isFull.wait()
            let message = try await socket.receive()
            #expect(message == .text("a"))
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .connectionLost)
            let late = await #expect(throws: NetworkError.self) { try await sending.value }
            #expect(late?.code == .connectionLost)
        }
    }

    /// Resets the connection after two messages, and after more than a session buffers.
    @Test("a reset ends a blocked sender although no message is read", arguments: Route.allCases, [0, 700])
    func resetAmidSend(_ route: Route, _ count: Int) async throws {
        let content = Data(repeating: 0x61, count: 1_000)
        let frame = Data([0x82, 0x7E, 0x03, 0xE8]) + content
        let more = (0..<count).reduce(into: Data()) { bytes, _ in bytes += frame }
        var read = 0
        // The server's reset discards what it has not sent yet, which may be more on a busy machine.
        for _ in 0..<(count == 0 ? 1 : 10) where read <= 500 {
            try await run(frame + frame) { connection in
                _ = try connection.hears(within: .seconds(300))
                try connection.send(more)
                try connection.pause(.milliseconds(300))
                connection.reset()
            } body: { url in
                let socket = try await open(url, route, receiveBufferLimit: 1)
                let inbox = try await socket.connections.current().inbox
                #expect(await comesTrue { inbox.hasWaitingWriter })
                let late = await #expect(throws: NetworkError.self) {
                    while true { try await socket.send(.binary(Data(count: 1 << 20))) }
                }
                #expect(late?.code == .connectionLost && late?.request != nil)
                let ping = await #expect(throws: NetworkError.self) { try await socket.ping() }
                #expect(ping?.code == .connectionLost)
                read = 0
                let failure = await #expect(throws: NetworkError.self) {
                    while let message = try await socket.receive() {
                        try #require(message == .binary(content))
                        read += 1
                    }
                }
                #expect(failure?.code == .connectionLost)
            }
        }
        #expect(count == 0 ? read == 2 : read > 500)
    }

    @Test("a message that a lost connection did not take gets its error")
    func lostMessage() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        let isStopped = Gate()
        queue.whenStopped { isStopped.open() }
        let sending = Task { try await queue.send(.text("lost")) }
        _ = await frames.next()
        let reading = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await frames.next()
        }
        #expect(await reading.value == nil)
        try await isStopped.wait()
        queue.end(NetworkError(.connectionLost))
        let failure = await #expect(throws: NetworkError.self) { try await sending.value }
        #expect(failure?.code == .connectionLost)
    }

    @Test("small messages to a slow server arrive whole and in order", arguments: Route.allCases)
    func slowServer(_ route: Route) async throws {
        // More than the buffers of the system hold while the server does not read.
        let count = 400
        try await MockServer.run { server in
            server.enqueue(.webSocket(.pause(.milliseconds(300)), .echo))
            let socket = try await open(server.url, route)
            let sending = Task {
                for number in 0..<count {
                    try await socket.send(.binary(Data(repeating: UInt8(number % 251), count: 20_000 + number)))
                }
            }
            for number in 0..<count {
                let message = try await socket.receive()
                #expect(message == .binary(Data(repeating: UInt8(number % 251), count: 20_000 + number)))
            }
            try await sending.value
        }
    }

    // RFC 6455 §5.5.3: a pong has the payload of its ping. §5.1: a client masks its frames.
    @Test("a ping of the server is answered with its payload, masked", arguments: Route.allCases)
    func pong(_ route: Route) async throws {
        let answers = Deliveries<[UInt8]>()
        try await run(Data([0x89, 0x06]) + Data("server".utf8)) { connection in
            answers.add(Array(try connection.read(12)))
            try connection.stall()
        } body: { url in
            let socket = try await open(url, route)
            let frame = try await answers.first()
            #expect(frame.prefix(2) == [0x8A, 0x86])
            let payload = frame.dropFirst(6).enumerated().map { $1 ^ frame[2 + $0 % 4] }
            #expect(payload == Array("server".utf8))
            withExtendedLifetime(socket) {}
        }
    }

    @Test("a ping after a lost connection throws that connection's error", arguments: Route.allCases)
    func pingAfterLoss(_ route: Route) async throws {
        try await run { _ in
        } body: { url in
            let socket = try await open(url, route)
            _ = try? await socket.receive()
            let failure = await #expect(throws: NetworkError.self) { try await socket.ping() }
            #expect(failure?.code == .connectionLost)
        }
    }

    @Test("a reset of the router ends its sockets", arguments: Route.allCases)
    func reset(_ route: Route) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .text("2"), .stall))
            let router = Router<URLEndPoint>(session: route.session)
            let socket = try await router.webSocket(for: URLEndPoint(.get, server.url))
            let first = try await socket.receive()
            #expect(first == .text("1"))
            await router.reset()
            try await server.waitForDisconnect()
            await #expect(throws: CancellationError.self) { while try await socket.receive() != nil {} }
        }
    }

    #if compiler(>=6.2)
    @Test("each socket releases its descriptors, however it ends")
    func descriptors() async {
        await #expect(processExitsWith: .success) {
            func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            for route in Route.allCases {
                try await MockServer.run { server in
                    let router = Router<URLEndPoint>(session: route.session)
                    let first = try count()
                    for _ in 0..<20 {
                        for end in [WebSocketStep.close(1000), .drop, .reset, .frame(0x3, Data()), .stall] {
                            server.enqueue(.webSocket(.text("1"), end))
                            let socket = try await router.webSocket(for: URLEndPoint(.get, server.url))
                            _ = try await socket.receive()
                            if end == .stall { socket.connections.cancel() } else { _ = try? await socket.receive() }
                        }
                    }
                    // The session buffers a few.
                    try #require(await comesTrue { (try? count()) ?? .max < first + 10 })
                }
            }
        }
    }
    #endif
}
#endif
