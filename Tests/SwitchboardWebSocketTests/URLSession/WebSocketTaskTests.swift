import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// The ways in which URLSession reports events and ends: in any order, more than once, or never.
@Suite("WebSocket tasks of URLSession", .timeLimit(.minutes(10))) struct WebSocketTaskTests {
    private let task = ScriptedTask()

    private func opening(
        _ url: String = "https://films.example/chat?room=7", clock: any Clock<Duration> = ContinuousClock(),
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) throws -> Task<WebSocket<String, String>, any Error> {
        let router = Router<URLEndPoint>(session: task.session)
        let headers: HTTPHeaders = ["X-App": "films", "Sec-WebSocket-Key": "an app's"]
        let endPoint = URLEndPoint(
            .get, try #require(URL(string: url)), headers: headers, options: RequestOptions(change))
        return Task {
            try await router.webSocket(for: endPoint, sending: String.self, receiving: String.self, clock: clock)
        }
    }

    private func open(
        clock: any Clock<Duration> = ContinuousClock(),
        _ change: @escaping @Sendable (inout RequestOptions) -> Void = { _ in }
    ) async throws -> (WebSocket<String, String>, FoundationSocket) {
        let opening = try opening(clock: clock, change)
        let events = try await task.socket()
        events.didOpen(with: nil, nil)
        return (try await opening.value, events)
    }

    private func response(_ status: Int, _ fields: [String: String] = [:]) -> HTTPURLResponse? {
        HTTPURLResponse(
            url: URL(text: "wss://films.example/chat"), statusCode: status, httpVersion: nil, headerFields: fields)
    }

    // MARK: The handshake

    @Test(
        "the task gets a URL of WebSockets and the app's fields",
        arguments: [
            ("https://films.example/chat?room=7", "wss://films.example/chat?room=7"),
            ("http://films.example:8080/", "ws://films.example:8080/"),
            ("HTTPS://films.example/", "wss://films.example/"),
        ])
    func request(_ url: String, _ expected: String) async throws {
        let opening = try opening(url) {
            $0.webSocket.subprotocols = ["v2", "v1"]
            $0.webSocket.messageLimit = 5_000_000
        }
        try await task.socket().didOpen(with: "v1", response(101))
        let socket = try await opening.value
        let request = try #require(task.requests.value.first)
        #expect(request.url?.absoluteString == expected)
        #expect(request.value(forHTTPHeaderField: "X-App") == "films")
        #expect(request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "v2, v1")
        for name in ["Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version"] {
            #expect(request.value(forHTTPHeaderField: name) == nil)
        }
        #expect(socket.subprotocol == "v1" && task.state.value.limit == 5_000_001)
    }

    @Test("a subprotocol that was not offered is refused")
    func subprotocol() async throws {
        let opening = try opening { $0.webSocket.subprotocols = ["v1"] }
        try await task.socket().didOpen(with: "v3", response(101))
        let failure = await #expect(throws: NetworkError.self) { try await opening.value }
        #expect(failure?.code == .invalidResponse)
        #expect(await comesTrue { task.state.value.cancels == 1 })
    }

    @Test("a response that is reported as open is still refused", arguments: [false, true])
    func refused(isOpen: Bool) async throws {
        let opening = try opening()
        let events = try await task.socket()
        let response = response(403, ["X-Why": "full"])
        if isOpen { events.didOpen(with: nil, response) }
        events.didComplete(with: URLError(.badServerResponse), response)
        let failure = await #expect(throws: NetworkError.self) { try await opening.value }
        #expect(failure?.code == .forbidden && failure?.statusCode == 403 && failure?.headers?["X-Why"] == "full")
        #expect(await comesTrue { task.state.value.cancels == 1 })
    }

    @Test(
        "a handshake without a response throws URLSession's error",
        arguments: [
            (URLError.Code.cannotConnectToHost, NetworkError.Code.cannotConnect),
            (.secureConnectionFailed, .insecureConnection), (.timedOut, .timedOut),
            (.badServerResponse, .invalidResponse),
        ])
    func noResponse(_ code: URLError.Code, _ expected: NetworkError.Code) async throws {
        let opening = try opening("http://127.0.0.1:9/")
        let events = try await task.socket()
        events.didComplete(with: URLError(code), nil)
        events.didComplete(with: nil, nil)
        let failure = await #expect(throws: NetworkError.self) { try await opening.value }
        #expect(failure?.code == expected)
    }

    @Test("a refused handshake with a head over the limit is headersTooLarge")
    func largeHead() async throws {
        let opening = try opening { $0.limits.responseHeaders = 100 }
        try await task.socket().didOpen(with: nil, response(403, ["X-Why": String(repeating: "a", count: 100)]))
        let failure = await #expect(throws: NetworkError.self) { try await opening.value }
        #expect(failure?.code == .headersTooLarge)
    }

    @Test("a task that opens after its cancellation is canceled again")
    func cancelled() async throws {
        let opening = try opening()
        let events = try await task.socket()
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
        #expect(task.state.value.cancels == 1)
        events.didOpen(with: nil, response(101))
        #expect(task.state.value.cancels == 2)
    }

    @Test("an invalidated session starts no task")
    func invalidated() async throws {
        let session = task.session
        session.invalidate()
        let failure = await #expect(throws: NetworkError.self) {
            try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.get, URL(text: "https://films.example/")))
        }
        #expect(failure?.code == .sessionInvalidated && task.requests.value.isEmpty)
    }

    @Test(
        "compression and a connect timeout are refused by name",
        arguments: ["webSocket.compression", "connect timeout"])
    func unsupported(_ words: String) async throws {
        let opening = try opening {
            if words.hasPrefix("web") {
                $0.webSocket.compression = WebSocketCompression()
            } else {
                $0.timeouts.connect = .seconds(1)
            }
        }
        let failure = await #expect(throws: NetworkError.self) { try await opening.value }
        #expect(failure?.code == .unsupported && failure?.reason?.contains(words) == true)
        #expect(task.state.value.socket == nil)
    }

    // MARK: The end

    @Test("messages that follow the report of a Close frame are read", arguments: [false, true])
    func orderOfTheEnd(isCompleteFirst: Bool) async throws {
        let (socket, events) = try await FoundationSocket.$gracePeriod.withValue(.seconds(86_400)) { try await open() }
        if isCompleteFirst { events.didComplete(with: nil, response(101)) }
        events.didClose(with: 4001, Data("later".utf8))
        await task.deliver("1")
        await task.deliver("2")
        await task.deliver(.failure(POSIXError(.ENOTCONN)))
        let texts = try await socket.elements()
        #expect(texts == ["1", "2"])
        #expect(socket.closure?.text == "4001 later by the server")
    }

    @Test("a receive that gets no answer ends soon after the reports")
    func unanswered() async throws {
        let (socket, events) = try await open()
        events.didClose(with: 1001, nil)
        events.didComplete(with: nil, response(101))
        let end = try await socket.receive()
        #expect(end == nil && socket.closure?.code == .goingAway)
    }

    @Test("a failed receive without another report ends soon")
    func unreported() async throws {
        let (socket, _) = try await open()
        await task.deliver(.failure(POSIXError(.ENOTCONN)))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .connectionLost && socket.closure == nil)
    }

    @Test("codes that stand for no Close frame are a lost connection", arguments: [0, 999, 1006, 1015, 70_000])
    func noFrame(_ code: Int) async throws {
        let (socket, events) = try await open()
        events.didClose(with: code, nil)
        await task.deliver(.failure(POSIXError(.ENOTCONN)))
        events.didComplete(with: URLError(.networkConnectionLost), response(101))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .connectionLost && socket.closure == nil)
    }

    @Test(
        "an error of an open socket has its code",
        arguments: [
            (POSIXError(.EPROTO) as any Error, NetworkError.Code.invalidResponse),
            (POSIXError(.ECONNRESET), .connectionLost), (URLError(.cancelled), .connectionLost),
            (URLError(.timedOut), .timedOut), (URLError(.notConnectedToInternet), .noInternetConnection),
        ])
    func errors(_ error: any Error, _ code: NetworkError.Code) async throws {
        let (socket, events) = try await open()
        await task.deliver(.failure(error))
        events.didComplete(with: error, response(101))
        events.didComplete(with: error, response(101))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == code && failure?.underlying != nil)
    }

    @Test("a Close frame without a code is one")
    func noCode() async throws {
        let (socket, events) = try await open()
        events.didClose(with: 1005, nil)
        await task.deliver(.failure(POSIXError(.ENOTCONN)))
        let end = try await socket.receive()
        #expect(end == nil && socket.closure?.code == .noStatusReceived)
    }

    @Test("a code that no server may send violates the protocol")
    func badCode() async throws {
        let (socket, events) = try await open()
        events.didClose(with: 1004, nil)
        await task.deliver(.failure(POSIXError(.ENOTCONN)))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .invalidResponse)
        #expect(await comesTrue { task.state.value.cancels > 0 })
    }

    @Test("closing ends without a report of the server's answer", arguments: [false, true])
    func ownClose(isReported: Bool) async throws {
        let (socket, events) = try await open()
        async let closing: Void = socket.close(.init(rawValue: 4000), reason: "bye")
        #expect(await comesTrue { task.state.value.closes == [4000] })
        await task.deliver(.failure(URLError(.cancelled)))
        if isReported { events.didClose(with: 4000, Data("bye".utf8)) }
        events.didComplete(with: URLError(.cancelled), response(101))
        await closing
        #expect(socket.closure?.text == "4000 bye")
        #expect(task.state.value.closes == [4000])
        let end = try await socket.receive()
        #expect(end == nil)
    }

    @Test("URLSession's limit closes the socket like the package's own")
    func limit() async throws {
        let (socket, events) = try await open { $0.webSocket.messageLimit = 10 }
        await task.deliver(.failure(POSIXError(.EMSGSIZE)))
        events.didComplete(with: POSIXError(.EMSGSIZE), response(101))
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .responseTooLarge && failure?.reason?.contains("webSocket.messageLimit") == true)
        #expect(socket.closure?.code == .messageTooBig)
    }

    @Test("a second message over the limit still cancels the task")
    func secondViolation() async throws {
        let (socket, _) = try await open { $0.webSocket.messageLimit = 4 }
        for _ in 1...2 { await task.deliver("large") }
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .responseTooLarge)
        #expect(await comesTrue { task.state.value.cancels == 1 })
    }

    // MARK: Callbacks

    @Test("a pong that is reported twice, or never, ends no other ping")
    func pings() async throws {
        let clock = TestClock()
        let (socket, _) = try await open(clock: clock) { $0.webSocket.pingInterval = .seconds(20) }
        async let first: Void = socket.ping()
        #expect(await comesTrue { task.state.value.pings.count == 1 })
        for _ in 0..<2 { task.state.value.pings.first?(nil) }
        task.state.value.pings.first?(POSIXError(.ECONNABORTED))
        try await first
        for _ in 0..<2 {
            _ = try await clock.nextSleep()
            clock.advance(by: .seconds(20))
        }
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .timedOut)
        #expect(await comesTrue { task.state.value.cancels == 1 })
    }

    @Test("a completion of a send that comes twice, or never, ends each send once")
    func sends() async throws {
        let (socket, events) = try await open()
        try await socket.send("1")
        task.state.value.sends.first?.completion(nil)
        task.state.withLock { $0.acceptsMessages = false }
        let second = Task { try await socket.send("2") }
        #expect(await comesTrue { task.state.value.sends.count == 2 })
        let third = Task { try await socket.send("3") }
        await task.deliver(.failure(POSIXError(.ECONNRESET)))
        events.didComplete(with: POSIXError(.ECONNRESET), response(101))
        await #expect(throws: NetworkError.self) { try await second.value }
        let failure = await #expect(throws: NetworkError.self) { try await third.value }
        #expect(failure?.code == .connectionLost)
        for send in task.state.value.sends { send.completion(POSIXError(.ENOTCONN)) }
        #expect(task.state.value.sends.map(\.message) == [.text("1"), .text("2")])
    }

    @Test("a send that fails without another report ends the socket")
    func failedSend() async throws {
        let (socket, _) = try await open()
        task.state.withLock { $0.acceptsMessages = false }
        let first = Task { try await socket.send("1") }
        #expect(await comesTrue { task.state.value.sends.count == 1 })
        let second = Task { try await socket.send("2") }
        task.state.value.sends.first?.completion(POSIXError(.ENOBUFS))
        for sending in [first, second] {
            let failure = await #expect(throws: NetworkError.self) { try await sending.value }
            #expect(failure?.code == .connectionLost)
        }
    }

    @Test("a message that URLSession accepted is sent, also at the end")
    func acceptedAtTheEnd() async throws {
        let (socket, events) = try await open()
        task.state.withLock { $0.acceptsMessages = false }
        let sending = Task { try await socket.send("1") }
        #expect(await comesTrue { !task.state.value.sends.isEmpty && !task.state.value.receives.isEmpty })
        task.state.value.sends.first?.completion(nil)
        // Not after a turn of the task that sends, which the end below could overtake.
        #expect(socket.metrics.messagesSent == 1)
        task.state.value.receives.first?(.failure(POSIXError(.ECONNRESET)))
        events.didComplete(with: POSIXError(.ECONNRESET), response(101))
        try await sending.value
    }

    @Test("a slow reader stops the receives")
    func backPressure() async throws {
        let (socket, _) = try await open { $0.webSocket.receiveBufferLimit = 1_000 }
        let text = String(repeating: "a", count: 2_000)
        await task.deliver(text)
        #expect(await comesTrue { socket.metrics.messagesReceived == 1 })
        #expect(task.state.value.receiveCount == 1)
        let first = try await socket.receive()
        #expect(first == text)
        #expect(await comesTrue { task.state.value.receiveCount == 2 })
    }

    @Test("a fragmented message is sent whole")
    func fragments() async throws {
        let (socket, _) = try await open()
        let text = String(repeating: "é", count: 300_000)
        try await socket.send(text)
        try await socket.send("")
        #expect(task.state.value.sends.map(\.message) == [.text(text), .text("")])
    }

    @Test("racing ends end a socket once", arguments: 0..<20)
    func race(_ round: Int) async throws {
        let (socket, events) = try await open()
        // After the end, no receive follows that could be answered.
        #expect(await comesTrue { !task.state.value.receives.isEmpty })
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = try? await socket.receive() }
            group.addTask { await self.task.deliver(.failure(POSIXError(.ENOTCONN))) }
            group.addTask { events.didClose(with: 1000, nil) }
            group.addTask { events.didComplete(with: nil, nil) }
            group.addTask { try? await socket.send("a") }
            group.addTask { await socket.close() }
            group.addTask { events.cancel() }
        }
        #expect(await comesTrue { task.state.value.cancels == 1 })
    }

    // MARK: A full inbox

    @Test("the end is detected while the inbox is full", arguments: [false, true])
    func endWithFullInbox(isByClose: Bool) async throws {
        let (socket, events) = try await open { $0.webSocket.receiveBufferLimit = 1 }
        await task.deliver("first")
        #expect(await comesTrue { socket.metrics.messagesReceived == 1 })
        if isByClose { events.didClose(with: 1001, Data()) }
        events.didComplete(with: isByClose ? nil : URLError(.networkConnectionLost), nil)
        await task.deliver(.failure(URLError(.networkConnectionLost)))
        for await state in socket.states {
            if case .closed(let closure) = state { #expect(closure?.code.rawValue == (isByClose ? 1001 : nil)) }
        }
        #expect(try await socket.receive() == "first")
    }

    @Test("a ping is answered while the inbox is full, also a small one", arguments: [1, 1_000])
    func pingWithFullInbox(limit: Int) async throws {
        let (socket, _) = try await open { $0.webSocket.receiveBufferLimit = limit }
        let text = String(repeating: "a", count: limit)
        await task.deliver(text)
        #expect(await comesTrue { socket.metrics.messagesReceived == 1 })
        async let ping: Void = socket.ping()
        for _ in 0..<20 { await task.deliver(text) }
        #expect(await comesTrue { !task.state.value.pings.isEmpty })
        task.state.value.pings.first?(nil)
        try await ping
        #expect(socket.metrics.messagesReceived == 21)
    }
}
