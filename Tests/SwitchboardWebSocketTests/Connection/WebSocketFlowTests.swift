#if os(Linux)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// Back-pressure, limits and ends of a socket.
@Suite("WebSocket flow", .timeLimit(.minutes(10))) struct WebSocketFlowTests {
    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    private func open(
        _ server: MockServer, clock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout WebSocketOptions) -> Void = { _ in }
    ) async throws -> Socket {
        var settings = WebSocketOptions()
        change(&settings)
        let options = RequestOptions { [settings] in $0.webSocket = settings }
        return try await Router(session: CurlSession()).webSocket(
            for: URLEndPoint(.get, server.url, options: options), clock: clock)
    }

    // MARK: Sending

    @Test("the end of a connection releases its compressor")
    func releasesCompressor() async throws {
        let queue = SendQueue()
        let connection = WebSocketConnection(queue, WebSocketOptions(), nil, clock: ContinuousClock())
        weak var compressor: MessageDeflater?
        do {
            let deflater = try MessageDeflater(Zlib.loaded.get(), windowBits: 15, keepsContext: true)
            compressor = deflater
            let frames = MessageFramer(queue)
            frames.compress(with: deflater, threshold: 0)
            let bytes = ResponseBytes {
                try await Task.sleep(for: .seconds(3_600))
                return nil
            }
            connection.start(bytes, FrameCoding(frames, MessageReader(limit: 1 << 10)))
        }
        #expect(compressor != nil)
        connection.end(CancellationError())
        #expect(await comesTrue { compressor == nil })
    }

    @Test("a message that was read is released")
    func releasing() async throws {
        let isReleased = Protected(false)
        let inbox = Inbox(limit: 1 << 20)
        do {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1_024, alignment: 1)
            let data = Data(
                bytesNoCopy: bytes, count: 1_024,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    isReleased.withLock { $0 = true }
                })
            _ = inbox.add(.binary(data))
        }
        _ = try await inbox.next()
        #expect(isReleased.value)
    }

    @Test("a send ends when its last fragment was passed on")
    func sendWaits() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        let hasSent = Protected(false)
        let sending = Task {
            try await queue.send(.binary(Data(count: MessageFramer.fragmentSize + 1)))
            hasSent.withLock { $0 = true }
        }
        let first = try #require(await frames.next())
        let last = try #require(await frames.next())
        #expect(first.count == MessageFramer.fragmentSize + 14 && last.count == 7)
        await Task.yield()
        #expect(!hasSent.value)
        let third = Task { await frames.next() }
        try await sending.value
        #expect(hasSent.value)
        third.cancel()
        #expect(await third.value == nil)
    }

    @Test("a message that is sent directly does not overtake one in flight")
    func directOrder() async throws {
        let queue = SendQueue()
        queue.setDirectSend { _ in true }
        let sending = Task { try await queue.send(.binary(Data(count: 100_000))) }
        let first = await queue.next()
        #expect(first == .message(.binary(Data(count: 100_000))))
        #expect(!queue.trySendDirectly(.message(.text("later"))))
        let end = Task { await queue.next() }
        try await sending.value
        #expect(queue.trySendDirectly(.message(.text("later"))))
        end.cancel()
        #expect(await end.value == nil)
    }

    @Test("a server that does not read makes the sender wait")
    func unread() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.pause(.milliseconds(500)), .text("late"), .stall))
            let socket = try await open(server)
            let hasSent = Protected(false)
            let sending = Task {
                // More than the buffers of the system hold.
                for _ in 0..<64 { try await socket.send(.binary(Data(count: 1 << 20))) }
                hasSent.withLock { $0 = true }
            }
            #expect(try await socket.receive() == .text("late"))
            #expect(!hasSent.value && socket.metrics.messagesSent < 64)
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    @Test("a control frame passes between the fragments of a message")
    func controlBetween() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        let sending = Task { try await queue.send(.binary(Data(count: MessageFramer.fragmentSize * 2))) }
        let first = try #require(await frames.next())
        queue.sendControl(.pong(Data("p".utf8)))
        let second = try #require(await frames.next())
        let third = try #require(await frames.next())
        #expect([first, second, third].map { $0[0] } == [0x02, 0x8A, 0x80])
        queue.end(CancellationError())
        _ = await sending.result
    }

    @Test("a message that a Close frame cuts off is not sent")
    func closeBetween() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        let sending = Task { try await queue.send(.binary(Data(count: MessageFramer.fragmentSize * 2))) }
        let first = try #require(await frames.next())
        queue.sendControl(.close(.normalClosure, reason: ""))
        let second = try #require(await frames.next())
        #expect([first, second].map { $0[0] } == [0x02, 0x88])
        #expect(await frames.next() == nil)
        queue.end(NetworkError(.webSocketClosed))
        let error = await #expect(throws: NetworkError.self) { try await sending.value }
        #expect(error?.code == .webSocketClosed && queue.sent.messages == 0)
    }

    @Test("a Close frame is recorded when it is queued, before the end")
    func recordsClose() {
        let queue = SendQueue()
        let recorded = Deliveries<UInt16>()
        queue.record { event in
            if case .close(let code, _) = event { recorded.add(code.rawValue) }
        }
        queue.sendControl(.close(.goingAway, reason: ""))
        queue.sendControl(.close(.normalClosure, reason: ""))
        queue.end(CancellationError())
        #expect(recorded.all == [1001])
    }

    // The limit of received bytes ends when the session stops.
    @Test("an earlier exchange of the handshake does not stop the queue", arguments: [false, true])
    func earlierExchange(isLate: Bool) async throws {
        let queue = SendQueue()
        let stops = Deliveries<Bool>()
        func pump(_ exchange: Int) -> Task<WebSocketEvent?, Never> { Task { await queue.next(of: exchange) } }
        let first = pump(queue.startExchange())
        if !isLate {
            first.cancel()
            _ = await first.value
        }
        let second = pump(queue.startExchange())
        queue.whenStopped { stops.add(true) }
        first.cancel()
        _ = await first.value
        #expect(stops.all.isEmpty)
        second.cancel()
        _ = await second.value
        #expect(stops.all == [true])
    }

    @Test("an earlier exchange of the handshake takes no message")
    func messageOfLaterExchange() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        let (first, second) = (queue.startExchange(), queue.startExchange())
        let sending = Task { try await queue.send(.binary(Data(count: MessageFramer.fragmentSize * 2))) }
        let early = await frames.next(of: first)
        try #require(early == nil)
        let fragment = await frames.next(of: second)
        #expect(fragment?.first == 0x02)
        let late = await frames.next(of: first)
        #expect(late == nil && queue.sent.messages == 0)
        let rest = await frames.next(of: second)
        #expect(rest?.first == 0x80)
        queue.end(CancellationError())
        _ = await sending.result
    }

    @Test("each frame has another mask, of random bits")
    func maskingKeys() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        var keys: [UInt32] = []
        for _ in 0..<64 {
            queue.sendControl(.pong(Data()))
            let frame = try #require(await frames.next())
            keys.append(frame[2..<6].reduce(0) { $0 << 8 | UInt32($1) })
        }
        #expect(Set(keys).count == 64)
        #expect(keys.reduce(0, |) == .max && keys.reduce(.max, &) == 0)
    }

    @Test("only the last of several waiting pongs is sent")
    func pongs() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        for number in 0..<1_000 { queue.sendControl(.pong(Data("\(number)".utf8))) }
        queue.sendControl(.close(.noStatusReceived, reason: ""))
        #expect(await frames.next()?[1] == 0x83)
        #expect(await frames.next()?[0] == 0x88)
        #expect(await frames.next() == nil)
    }

    // MARK: Receiving

    @Test("a full queue takes no further message", arguments: [0, 100])
    func fullQueue(_ size: Int) async throws {
        let inbox = Inbox(limit: 10 * (size + 64))
        let adding = Task {
            for _ in 0..<50 where !inbox.add(.binary(Data(count: size))) { await inbox.waitForSpace() }
            inbox.end(.success(()))
        }
        #expect(await comesTrue { inbox.hasWaitingWriter })
        var taken = 0
        #expect(inbox.received.messages == 10)
        while try await inbox.next() != nil {
            taken += 1
            #expect(inbox.received.messages <= taken + 10)
        }
        #expect(taken == 50)
        await adding.value
    }

    @Test("an inbox is drained when its reader has used the last message")
    func drained() async throws {
        let inbox = Inbox(limit: 100)
        _ = inbox.add(.text("last"))
        inbox.end(.success(()))
        _ = try await inbox.next()
        let order = Deliveries<String>()
        let draining = Task {
            _ = await inbox.drained()
            order.add("drained")
        }
        for _ in 0..<1_000 { await Task.yield() }
        order.add("used")
        inbox.didRead()
        await draining.value
        #expect(order.all == ["used", "drained"])
    }

    @Test("a reader that is slow is no reason to miss an answer to a ping")
    func slowReaderPings() async throws {
        try await MockServer.run { server in
            let bytes = Data(count: 1 << 20)
            let message = WebSocketMessage.binary(bytes)
            server.enqueue(.webSocket(.binary(bytes), .binary(bytes)))
            let clock = TestClock()
            let socket = try await open(server, clock: clock) {
                $0.receiveBufferLimit = 1
                $0.pingInterval = .seconds(20)
            }
            let inbox = try await socket.connections.current().inbox
            #expect(await comesTrue { inbox.hasWaitingWriter })
            for _ in 0..<3 {
                _ = try await clock.nextSleep()
                clock.advance(by: .seconds(20))
            }
            _ = try await clock.nextSleep()
            #expect(try await socket.receive() == message)
            #expect(try await socket.receive() == message)
            try await socket.ping()
        }
    }

    @Test("a server that sends a long message need not answer a ping before its end")
    func pingDuringMessage() async throws {
        let clock = TestClock()
        var settings = WebSocketOptions()
        settings.pingInterval = .seconds(20)
        let (chunks, source) = AsyncStream<Data>.makeStream()
        let connection = WebSocketConnection(SendQueue(), settings, nil, clock: clock)
        let reads = Protected(0)
        let body = ResponseBytes {
            reads.withLock { $0 += 1 }
            return await chunks.first { _ in true }
        }
        connection.start(body, FrameCoding(MessageFramer(SendQueue()), MessageReader(limit: 1 << 20)))
        for (number, chunk) in ["82 0a 01 02", "03 04", "05 06"].enumerated() {
            clock.advance(by: try await clock.nextSleep())
            _ = try await clock.nextSleep()
            source.yield(bytes(chunk))
            #expect(await comesTrue { reads.value == number + 2 })
            clock.advance(by: .seconds(20))
        }
        for _ in 0..<2 { clock.advance(by: try await clock.nextSleep()) }
        let end = await connection.inbox.ended()
        let failure = #expect(throws: NetworkError.self) { try end?.get() }
        #expect(failure?.code == .timedOut)
    }

    @Test("each of many pings is examined once, whatever the server answers", arguments: [1, 3])
    func manyPings(step: Int) async throws {
        let connection = WebSocketConnection(SendQueue(), WebSocketOptions(), nil, clock: ContinuousClock())
        let pings = (0..<1_000).map { _ in Task { try await connection.ping() } }
        #expect(await comesTrue { connection.state.value.pings.count == pings.count })
        let pongs = stride(from: 1, through: pings.count, by: step).map { number in
            bytes("8a 08") + withUnsafeBytes(of: UInt64(number).bigEndian) { Data($0) }
        }
        let chunk = Protected<Data?>(Data(pongs.joined()))
        let frames = FrameCoding(MessageFramer(SendQueue()), MessageReader(limit: 1 << 10))
        connection.start(ResponseBytes { chunk.swap(nil) }, frames)
        for ping in pings { try await ping.value }
        #expect(connection.state.value.firstPing > pings.count)
    }

    @Test("a compressed bomb is refused before it is inflated")
    func bomb() async throws {
        let packed = try #require(
            try MessageDeflater(Zlib.loaded.get(), windowBits: 15, keepsContext: false).compress(Data(count: 64 << 20)))
        try await MockServer.run { server in
            let fields: HTTPHeaders = ["Sec-WebSocket-Extensions": "permessage-deflate"]
            server.enqueue(.webSocket(.frame(0x2, packed, reserved: 4), headers: fields))
            let socket = try await open(server) {
                $0.compression = WebSocketCompression()
                $0.messageLimit = 1 << 20
            }
            let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
            #expect(failure?.code == .responseTooLarge && socket.closure?.code == .messageTooBig)
            #expect(try await server.takeWebSocket().closeCode == 1009)
        }
    }

    @Test("after the end, compressed messages are inflated up to 16 times the limit")
    func bombsBeforeEnd() async throws {
        let content = Data(count: 256 << 10)
        let deflater = try MessageDeflater(Zlib.loaded.get(), windowBits: 15, keepsContext: false)
        let packed = try #require(deflater.compress(content))
        try #require((126..<1 << 16).contains(packed.count))
        let frame = Data([0xC2, 126, UInt8(packed.count >> 8), UInt8(packed.count & 0xFF)]) + packed
        let chunk = Protected<Data?>(Data(Array(repeating: frame, count: 40).joined()))

        // The higher limit is 1 MiB, which is four messages.
        var options = WebSocketOptions()
        options.receiveBufferLimit = 1
        let queue = SendQueue()
        let connection = WebSocketConnection(queue, options, nil, clock: ContinuousClock())
        let inflater = try MessageInflater(Zlib.loaded.get(), keepsContext: true)
        let frames = FrameCoding(MessageFramer(queue), MessageReader(limit: 1 << 20, inflater: inflater))
        let exchange = queue.startExchange()
        connection.start(ResponseBytes { chunk.swap(nil) }, frames)
        let sending = Task { await queue.next(of: exchange) }
        sending.cancel()
        _ = await sending.value

        let inbox = connection.inbox
        #expect(await comesTrue { inbox.hasWaitingWriter || inbox.result != nil })
        #expect(inbox.received.messages == 4)
        // Their caller may be the reader of the messages.
        let unsent = await #expect(throws: NetworkError.self) { try await queue.send(.text("answer")) }
        let unanswered = await #expect(throws: NetworkError.self) { try await connection.ping() }
        #expect(unsent?.code == .connectionLost && unanswered?.code == .connectionLost)
        for _ in 0..<40 {
            let message = try await inbox.next()
            #expect(message == .binary(content))
        }
        let error = await #expect(throws: NetworkError.self) { try await inbox.next() }
        #expect(error?.code == .connectionLost)
    }

    // MARK: Ending

    @Test(
        "a server that keeps a closed connection open is left after the timeout",
        arguments: [WebSocketStep.close(1000), .frame(0x3, Data())])
    func closeTimeout(_ step: WebSocketStep) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(step, .stall))
            let clock = TestClock()
            let socket = try await open(server, clock: clock)
            _ = try? await socket.receive()
            #expect(try await clock.nextSleep() == .seconds(10))
            clock.advance(by: .seconds(10))
            try await server.waitForDisconnect()
            // Returns at once, because the socket has ended.
            await socket.close()
        }
    }

    @Test(
        "a 101 with a field about its body ends in an error",
        arguments: [
            ["Content-Length": "0"], ["Content-Length": "3"], ["Content-Length": "100"],
            ["Transfer-Encoding": "chunked"], ["Content-Encoding": "gzip"],
        ] as [HTTPHeaders])
    func bodyFields(_ fields: HTTPHeaders) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("x"), .text("y"), .drop, headers: fields))
            await #expect(throws: NetworkError.self) {
                let socket = try await open(server)
                while try await socket.receive() != nil {}
            }
        }
    }

    @Test(
        "a socket that has ended is released",
        arguments: [WebSocketStep.close(1000), .drop, .reset, .frame(0x3, Data())])
    func released(_ step: WebSocketStep) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(step))
            weak var queue: SendQueue?
            do {
                let socket = try await open(server)
                queue = try await socket.connections.current().queue
                _ = try? await socket.receive()
                await socket.close()
            }
            #expect(await comesTrue { queue == nil })
        }
    }

    @Test("an error keeps no compressed or refused connection", arguments: [true, false])
    func releasedByError(isAccepted: Bool) async throws {
        let isReleased = Protected(false)
        let session = AdHocSession { request in
            var request = request
            let upgrade = try #require(request.options.upgrade)
            request.headers.merge(upgrade.headers(request))
            upgrade.connected(Upgraded(isReleased))
            let key = request.headers["Sec-WebSocket-Key"] ?? ""
            var response = NetworkResponse(
                statusCode: 101,
                headers: [
                    "Upgrade": "websocket", "Connection": "Upgrade",
                    "Sec-WebSocket-Accept": try WebSocketHandshake.accept(for: isAccepted ? key : "another key"),
                    "Sec-WebSocket-Extensions": "permessage-deflate",
                ])
            response.request = request
            response.stream = ResponseBytes(read: { nil })
            return response
        }
        let options = RequestOptions { $0.webSocket.compression = WebSocketCompression() }
        let error = await #expect(throws: NetworkError.self) {
            let socket = try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.get, URL(text: "https://example.com/")), options: options)
            _ = try await socket.receive()
        }
        #expect(error?.code == (isAccepted ? .connectionLost : .invalidResponse))
        #expect(isReleased.value && error?.request?.options.upgrade != nil)
    }

    @Test("a closed socket ends the sender that waits")
    func closeAmidSend() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.pause(.milliseconds(200)), .text("late"), .stall))
            let clock = TestClock()
            let socket = try await open(server, clock: clock)
            let sending = Task { while true { try await socket.send(.binary(Data(count: 1 << 20))) } }
            _ = try await socket.receive()
            async let closing: Void = socket.close()
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(10))
            await closing
            let failure = await #expect(throws: NetworkError.self) { try await sending.value }
            #expect(failure?.code == .webSocketClosed)
        }
    }

    @Test("100,000 canceled sends leave nothing before the next message")
    func cancelManySends() async throws {
        let (queue, begun) = (SendQueue(), Protected(0))
        let tasks = (0..<100_000).map { _ in
            Task {
                begun.withLock { $0 += 1 }
                try await queue.send(.text("withdrawn"))
            }
        }
        #expect(await comesTrue { begun.value == tasks.count })
        for task in tasks { task.cancel() }
        for task in tasks { _ = await task.result }
        let last = Task { try await queue.send(.text("last")) }
        #expect(await queue.next() == .message(.text("last")))
        queue.end(CancellationError())
        _ = await last.result
    }

    @Test("canceling a task that sends withdraws its message")
    func cancelSend() async throws {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        for round in 0..<200 {
            let sending = Task { try await queue.send(.text("withdrawn")) }
            for _ in 0..<round % 10 { await Task.yield() }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
        let last = Task { try await queue.send(.text("last")) }
        #expect(await frames.next()?.count == 10)
        queue.end(CancellationError())
        _ = await last.result
    }
}

/// Reports its release.
private final class Upgraded: UpgradedConnection {
    private let isReleased: Protected<Bool>

    init(_ isReleased: Protected<Bool>) { self.isReleased = isReleased }

    deinit { isReleased.withLock { $0 = true } }

    func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool { false }

    func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {}
}
#endif
