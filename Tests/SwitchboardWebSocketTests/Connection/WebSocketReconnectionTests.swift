import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
@testable import SwitchboardWebSocket
import SwitchboardTestSupport
import Testing

/// A socket that reconnects.
@Suite("WebSocket reconnection", .timeLimit(.minutes(10))) struct WebSocketReconnectionTests {
    private let endPoint = URLEndPoint(.get, URL(text: "https://example.com/chat"))

    private func options(_ change: (inout RequestOptions) -> Void = { _ in }) -> RequestOptions {
        var options = RequestOptions()
        options.webSocket.reconnects = true
        change(&options)
        return options
    }

    private func router(_ session: StubSession, clock: TestClock, attempts: Int = 4) -> Router<URLEndPoint> {
        let policy = RetryPolicy(maximumAttempts: attempts, baseDelay: .seconds(2), jitter: nil, clock: clock)
        return Router(
            session: session, interceptors: [RetryPolicy(clock: clock)],
            options: RequestOptions { $0.retry = policy })
    }

    private func read(_ socket: WebSocket<String, String>) async throws -> [String] {
        let texts = try await socket.elements()
        return texts
    }

    @Test("a lost connection is opened again after its last message")
    func lost() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .webSocket(.text("1"), .text("2"), .drop), .webSocket(.text("3"), .reset), .webSocket(.text("4"), .close()))
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let texts = try await read(socket)
        #expect(texts == ["1", "2", "3", "4"])
        #expect(session.requests.count == 3)
        #expect(clock.sleeps == [.seconds(2), .seconds(2)])
        #expect(socket.closure?.code == .normalClosure)
        #expect(socket.metrics.messagesReceived == 4)
    }

    @Test("without the option a lost connection ends the socket")
    func off() async throws {
        let session = StubSession(.webSocket(.text("1"), .drop), .webSocket(.text("2")))
        let clock = TestClock(skips: true)
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self)
        let failure = await #expect(throws: NetworkError.self) { try await read(socket) }
        #expect(failure?.code == .connectionLost)
        #expect(session.requests.count == 1 && clock.sleeps.isEmpty)
    }

    #if os(Linux)
    @Test("each connection subscribes first, with the last message that was read")
    func cursor() async throws {
        try await MockServer.run { server in
            server.enqueue(
                .webSocket(.receive, .text("7"), .text("8"), .drop), .webSocket(.receive, .text("9"), .close()))
            let router = Router<URLEndPoint>(
                session: CurlSession(), interceptors: [RetryPolicy(clock: TestClock(skips: true))])
            let socket = try await router.webSocket(
                for: URLEndPoint(.get, server.url), sending: String.self, receiving: String.self, options: options()
            ) { socket, last in
                try await socket.send("after \(last ?? "none")")
            }
            let texts = try await read(socket)
            #expect(texts == ["7", "8", "9"])
            let seen = try await [server.takeWebSocket(), server.takeWebSocket()]
            #expect(seen.map { $0.messages.map(\.text) } == [["after none"], ["after 8"]])
        }
    }
    #endif

    @Test(
        "a Close frame for a time reconnects, and any other one ends the socket",
        arguments: [
            (1000, 1), (1001, 2), (1002, 1), (1008, 1), (1011, 2), (1012, 2), (1013, 2), (1014, 2), (4000, 1), (nil, 1),
        ] as [(UInt16?, Int)])
    func codes(_ code: UInt16?, _ connections: Int) async throws {
        let session = StubSession(.webSocket(.close(code)), .webSocket(.close()))
        let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let texts = try await read(socket)
        #expect(texts.isEmpty && session.requests.count == connections)
    }

    @Test("while subscribing, a temporary Close frame reconnects and others end")
    func closeDuringSubscription() async throws {
        func socket(_ code: UInt16) async throws -> (WebSocket<String, String>, StubSession) {
            let session = StubSession(.webSocket(.drop), .webSocket(.close(code)), .webSocket(.text("1"), .close()))
            let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
                for: endPoint, sending: String.self, receiving: String.self, options: options()
            ) { socket, _ in
                guard session.requests.count == 2 else { return }
                _ = try? await socket.receive()  // until the Close frame
                try await socket.send("subscribe")
            }
            return (socket, session)
        }
        let (temporary, session) = try await socket(1012)
        let texts = try await read(temporary)
        #expect(texts == ["1"] && session.requests.count == 3)
        let (final, refusing) = try await socket(1008)
        let failure = await #expect(throws: NetworkError.self) { try await read(final) }
        #expect(failure?.code == .webSocketClosed && refusing.requests.count == 2)
    }

    @Test("a temporary Close frame ends a socket whose policy retries no loss")
    func temporaryWithoutCode() async throws {
        let session = StubSession(.webSocket(.text("1"), .close(1001)), .webSocket(.text("never")))
        let clock = TestClock(skips: true)
        var policy = RetryPolicy(maximumAttempts: 4, baseDelay: .seconds(2), jitter: nil, clock: clock)
        policy.errorCodes = []
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options { $0.retry = policy })
        let states = socket.states
        let texts = try await read(socket)
        #expect(texts == ["1"] && socket.closure?.code == .goingAway && session.requests.count == 1)
        let seen = await states.elements()
        #expect(seen == [.open, .closed(socket.closure)])
    }

    @Test("a violation of the protocol ends the socket")
    func violation() async throws {
        let session = StubSession(.webSocket(.frame(0x3, Data())), .webSocket(.text("never")))
        let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let failure = await #expect(throws: NetworkError.self) { try await read(socket) }
        #expect(failure?.code == .invalidResponse && session.requests.count == 1)
    }

    @Test("silent connections and failed handshakes share one count")
    func attempts() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .webSocket(.text("1"), .drop), .webSocket(.drop), .status(503), .webSocket(.drop),
            .webSocket(.text("never")))
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let first = try await socket.receive()
        #expect(first == "1")
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .connectionLost && failure?.attempts == 4)
        #expect(session.requests.count == 4)
        #expect(clock.sleeps == [.seconds(2), .seconds(4), .seconds(8)])
        let late = await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(late?.code == .connectionLost)
    }

    @Test("Retry-After of a refused handshake sets the wait")
    func retryAfter() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .webSocket(.text("1"), .drop), .status(503, headers: ["Retry-After": "20"]), .webSocket(.close()))
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        _ = try await read(socket)
        #expect(clock.sleeps == [.seconds(2), .seconds(20)])
    }

    @Test("a refused handshake that is final ends the socket with its error")
    func refused() async throws {
        let session = StubSession(.webSocket(.drop), .status(403), .webSocket(.close()))
        let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let failure = await #expect(throws: NetworkError.self) { try await read(socket) }
        #expect(failure?.code == .forbidden && session.requests.count == 2)
    }

    #if os(Linux)
    @Test("a message waits for the next connection")
    func sending() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.drop), .webSocket(.receive, .text("got it"), .close()))
            let clock = TestClock()
            let policy = RetryPolicy(baseDelay: .seconds(2), jitter: nil, clock: clock)
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                for: URLEndPoint(.get, server.url), sending: String.self, receiving: String.self,
                options: options { $0.retry = policy })
            let reading = Task { try await read(socket) }
            let wait = try await clock.nextSleep()
            let sending = Task { try await socket.send("hello") }
            clock.advance(by: wait)
            try await sending.value
            let texts = try await reading.value
            #expect(wait == .seconds(2) && texts == ["got it"])
            _ = try await server.takeWebSocket()
            let second = try await server.takeWebSocket()
            #expect(second.messages.map(\.text) == ["hello"])
        }
    }
    #endif

    @Test("a message that a stub received is sent, whatever it does next")
    func receivedByStub() async throws {
        for step in [WebSocketStep.drop, .reset, .stall] {
            let router = router(StubSession(.webSocket(.receive, step)), clock: TestClock())
            let payload = String(repeating: "x", count: 300_000)  // three fragments
            let socket = try await router.webSocket(for: endPoint, sending: String.self, receiving: String.self) {
                socket, _ in try await socket.send(payload)
            }
            #expect(socket.metrics.messagesSent == 1)
            router.cancel()
        }
    }

    @Test("a loop that answers each message survives a lost connection")
    func answering() async throws {
        let clock = TestClock(skips: true)
        let session = StubSession(
            .webSocket(.text("1"), .text("2"), .drop), .webSocket(.receive, .receive, .text("3"), .close()))
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let states = socket.states
        for await state in states {
            if case .reconnecting = state { break }
        }
        var texts: [String] = []
        for try await text in socket {
            texts.append(text)
            if texts.count < 3 { try await socket.send("got \(text)") }
        }
        #expect(texts == ["1", "2", "3"] && session.requests.count == 2)
    }

    #if os(Linux)
    @Test("a ping without an answer reconnects")
    func ping() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .stall), .webSocket(.text("2"), .close()))
            let (pings, waits) = (TestClock(), TestClock(skips: true))
            let router = Router<URLEndPoint>(session: CurlSession(), interceptors: [RetryPolicy(clock: waits)])
            let socket = try await router.webSocket(
                for: URLEndPoint(.get, server.url), sending: String.self, receiving: String.self,
                options: options { $0.webSocket.pingInterval = .seconds(20) }, clock: pings)
            var states = socket.states.makeAsyncIterator()
            let open = await states.next()
            #expect(open == .open)
            var messages = socket.makeAsyncIterator()
            #expect(try await messages.next() == "1")
            for _ in 0..<2 { pings.advance(by: try await pings.nextSleep()) }
            let lost = await states.next()
            guard case .reconnecting(let cause) = lost else { throw NetworkError(.unknown, reason: "\(lost as Any)") }
            #expect(cause.code == .timedOut)
            #expect(try await messages.next() == "2")
            #expect(try await messages.next() == nil)
        }
    }
    #endif

    @Test("the states name each connection, and end with the socket")
    func states() async throws {
        let session = StubSession(
            .webSocket(.receive, .text("1"), .drop), .webSocket(.text("2"), .close(1000, reason: "bye")))
        let clock = TestClock()
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let states = socket.states
        try await socket.send("go")
        let reading = Task { try await read(socket) }
        clock.advance(by: try await clock.nextSleep())
        _ = try await reading.value
        var codes: [String] = []
        for await state in states {
            switch state {
            case .open: codes.append("open")
            case .reconnecting(let cause): codes.append("\(cause.code)")
            case .closed(let closure): codes.append("closed \(closure?.code.rawValue ?? 0) \(closure?.reason ?? "")")
            }
        }
        #expect(codes == ["open", "connectionLost", "open", "closed 1000 bye"])
        var late = socket.states.makeAsyncIterator()
        let (last, none) = await (late.next(), late.next())
        #expect(last == .closed(socket.closure) && none == nil)
    }

    @Test("a socket that does not reconnect has states too")
    func plainStates() async throws {
        let session = StubSession(.webSocket(.text("1"), .drop))
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: endPoint, sending: String.self, receiving: String.self)
        let states = socket.states
        _ = try await socket.receive()
        let seen = await states.elements()
        #expect(seen == [.open, .closed(nil)] || seen == [.closed(nil)])
    }

    @Test("the first state of a socket that has ended is its end")
    func lateStates() async throws {
        let session = StubSession(.webSocket(.text("1"), .close(1000, reason: "bye")))
        let socket = try await Router<URLEndPoint>(session: session).webSocket(
            for: endPoint, sending: String.self, receiving: String.self)
        for try await _ in socket {}
        let seen = await socket.states.elements()
        #expect(seen == [.closed(socket.closure)])
    }

    @Test(
        "a message after a temporary Close frame is lost, not closed",
        arguments: [(1012, .connectionLost), (1000, .webSocketClosed)] as [(UInt16, NetworkError.Code)])
    func sendingAfterClose(_ close: UInt16, _ code: NetworkError.Code) async throws {
        let session = StubSession(.webSocket(.receive, .close(close, reason: "bye")))
        let socket = try await router(session, clock: TestClock()).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        let connection = try await socket.connections.current()
        try await socket.send("go")
        #expect(await comesTrue { connection.closure != nil })
        #expect(socket.connections.closedError(of: connection).code == code)
    }

    @Test("onOpen gets the last unread message that decodes")
    func unreadCursor() async throws {
        let session = StubSession(
            .webSocket(.text("1"), .text("2"), .text("3"), .text("no number"), .drop),
            .webSocket(.receive, .receive, .text("4"), .close()))
        let clock = TestClock()
        let cursors = Protected<[Int?]>([])
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: Int.self, options: options()
        ) { socket, last in
            cursors.withLock { $0.append(last) }
            if let last { try await socket.send("after \(last)") }
        }
        #expect(try await socket.receive() == 1)
        for await state in socket.states {
            if case .reconnecting = state { break }
        }
        // Opens the next connection, although messages are unread.
        let sending = Task { try await socket.send("go") }
        clock.advance(by: try await clock.nextSleep())
        try await sending.value
        #expect(try await socket.receive() == 2)
        #expect(try await socket.receive() == 3)
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.code == .decodingFailed)
        #expect(try await socket.receive() == 4)
        #expect(try await socket.receive() == nil)
        #expect(cursors.value == [nil, 3])
    }

    #if os(Linux)
    @Test("a sender reconnects no socket while too many messages are unread")
    func unread() async throws {
        try await MockServer.run { server in
            let text = String(repeating: "x", count: 100_000)
            server.stub(.any) { _ in .webSocket(.text(text), .drop) }
            let router = Router<URLEndPoint>(
                session: CurlSession(), interceptors: [RetryPolicy(clock: TestClock(skips: true))])
            let socket = try await router.webSocket(
                for: URLEndPoint(.get, server.url), sending: String.self, receiving: String.self,
                options: options { $0.webSocket.receiveBufferLimit = 1_000 })
            var isRefused = false
            while !isRefused, socket.metrics.messagesReceived < 40 {
                do {
                    try await socket.send("x")
                } catch let error as NetworkError {
                    isRefused = error.reason?.contains("unread") == true
                    if error.code == .webSocketClosed { break }
                }
                await Task.yield()
            }
            // Eleven messages are above 1 MiB.
            #expect(isRefused && socket.metrics.messagesReceived == 11)
            for _ in 0..<12 { #expect(try await socket.receive()?.utf8.count == text.utf8.count) }
        }
    }
    #endif

    @Test("a socket keeps no reader of its states that has ended")
    func readersOfStates() async throws {
        let socket = try await Router<URLEndPoint>(session: StubSession(.webSocket(.stall))).webSocket(
            for: endPoint, sending: String.self, receiving: String.self)
        for _ in 0..<100 {
            for await state in socket.states where state == .open { break }
        }
        let states = socket.states
        withExtendedLifetime(states) {
            #expect(socket.connections.state.withLock { $0.observers.count } == 1)
        }
    }

    @Test("closing a socket that reconnects ends it")
    func closing() async throws {
        let session = StubSession(.webSocket(.drop), .webSocket(.text("never")))
        let clock = TestClock()
        let socket = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        _ = try await clock.nextSleep()
        await socket.close(.normalClosure, reason: "enough")
        let texts = try await read(socket)
        #expect(texts.isEmpty && session.requests.count == 1)
        #expect(socket.closure?.reason == "enough" && socket.closure?.isFromServer == false)
        let late = await #expect(throws: NetworkError.self) { try await socket.send("late") }
        #expect(late?.code == .webSocketClosed)
    }

    @Test("the router's cancel ends the wait for the next connection")
    func routerCancel() async throws {
        let session = StubSession(.webSocket(.drop), .webSocket(.text("never")))
        let clock = TestClock()
        let router = router(session, clock: clock)
        let socket = try await router.webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        _ = try await clock.nextSleep()
        router.cancel()
        await #expect(throws: CancellationError.self) { try await read(socket) }
        #expect(session.requests.count == 1)
    }

    @Test("the router's cancel and reset end a socket with unread messages", arguments: [false, true])
    func routerEndsUnread(_ isReset: Bool) async throws {
        let session = StubSession(.webSocket(.text("1"), .text("2"), .drop), .webSocket(.text("never"), .close()))
        let router = router(session, clock: TestClock(skips: true))
        let socket = try await router.webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        for await state in socket.states {
            if case .reconnecting = state { break }
        }
        if isReset { await router.reset() } else { router.cancel() }
        var last: WebSocketState?
        for await state in socket.states { last = state }
        #expect(last == .closed(nil))
        var texts: [String] = []
        await #expect(throws: CancellationError.self) {
            while let text = try await socket.receive() { texts.append(text) }
        }
        #expect(texts == ["1", "2"] && session.requests.count == 1)
    }

    @Test("the router's cancel and reset end an onOpen that waits", arguments: [false, true])
    func routerEndsOnOpen(_ isReset: Bool) async throws {
        let isWaiting = Gate()
        let session = StubSession(.webSocket(.drop), .webSocket(.stall))
        let router = router(session, clock: TestClock(skips: true))
        let socket = try await router.webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options()
        ) { _, _ in
            guard session.requests.count == 2 else { return }
            isWaiting.open()
            try await Task.sleep(for: .seconds(3_600))
        }
        try await isWaiting.wait()
        if isReset { await router.reset() } else { router.cancel() }
        await #expect(throws: CancellationError.self) { try await socket.receive() }
    }

    @Test("a reset that meets a lost connection cancels the socket")
    func resetAfterLoss() async throws {
        let logout = SlowLogout()
        let session = StubSession(.webSocket(.drop), .webSocket(.text("never"), .close()))
        let router = Router<URLEndPoint>(session: session, interceptors: [logout])
        let socket = try await router.webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options()
        ) { socket, _ in
            _ = try? await socket.receive()
            Task { await router.reset() }
            try await logout.began.wait()
        }
        await #expect(throws: CancellationError.self) { try await socket.receive() }
        logout.mayEnd.open()
        #expect(session.requests.count == 1)
    }

    @Test("releasing a socket that reconnects ends its wait")
    func releasing() async throws {
        let session = StubSession(.webSocket(.drop), .webSocket(.text("never")))
        let clock = TestClock()
        var socket: WebSocket<String, String>? = try await router(session, clock: clock).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options())
        _ = try await clock.nextSleep()
        let states = try #require(socket).states
        socket = nil
        var last: WebSocketState?
        for await state in states { last = state }
        guard case .closed(let closure) = last else { throw NetworkError(.unknown, reason: "\(last as Any)") }
        #expect(closure?.code == .goingAway && closure?.isFromServer == false)
        while clock.sleeperCount > 0 { await Task.yield() }
    }

    @Test("leaving a loop of the subscription keeps the connection open")
    func loopOfSubscription() async throws {
        let session = StubSession(.webSocket(.text("ready"), .text("1"), .receive, .close()))
        let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options()
        ) { socket, _ in
            for try await text in socket where text == "ready" { break }
        }
        let first = try await socket.receive()
        try await socket.send("thanks")
        let end = try await socket.receive()
        #expect(first == "1" && end == nil && socket.closure?.isFromServer == true)
    }

    @Test("an error of the subscription ends the socket")
    func subscription() async throws {
        struct Refused: Error {}
        let session = StubSession(.webSocket(.text("1"), .drop), .webSocket(.text("never")))
        let socket = try await router(session, clock: TestClock(skips: true)).webSocket(
            for: endPoint, sending: String.self, receiving: String.self, options: options()
        ) { _, last in
            if last != nil { throw Refused() }
        }
        let first = try await socket.receive()
        #expect(first == "1")
        let failure = await #expect(throws: NetworkError.self) { try await socket.receive() }
        #expect(failure?.underlying is Refused)
        await #expect(throws: Refused.self) {
            try await router(StubSession(.webSocket(.echo)), clock: TestClock(skips: true)).webSocket(
                for: endPoint, sending: String.self, receiving: String.self, options: options()
            ) { _, _ in throw Refused() }
        }
    }
}

/// Waits during a reset.
private struct SlowLogout: Interceptor, Resettable {
    let began = Gate()
    let mayEnd = Gate()

    func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await next(request)
    }

    func reset() async {
        began.open()
        try? await mayEnd.wait()
    }
}

/// Ends of a socket that meet another event.
@Suite("WebSocket races", .timeLimit(.minutes(10))) struct WebSocketRaceTests {
    @Test("closing while the next connection is installed throws no error")
    func closeAmidInstallation() async throws {
        for round in 0..<300 {
            let session = StubSession(.webSocket(.drop), .webSocket(.stall))
            let (isOpening, mayOpen) = (Gate(), Gate())
            let options = RequestOptions { $0.webSocket.reconnects = true }
            let socket = try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.get, URL(text: "https://example.com/"), options: options),
                clock: TestClock(skips: true)
            ) { _, _ in
                guard session.requests.count > 1 else { return }
                isOpening.open()
                try await mayOpen.wait()
            }
            let reading = Task { try await socket.receive() }
            try await isOpening.wait()
            async let closing: Void = socket.close()
            for _ in 0..<round % 8 { await Task.yield() }
            mayOpen.open()
            await closing
            let message = try await reading.value
            #expect(message == nil)
            #expect(socket.closure?.isFromServer == false)
        }
    }

    @Test("closing a socket that the server has closed keeps the server's code")
    func closeAfterEnd() async throws {
        for _ in 0..<300 {
            let session = StubSession(.webSocket(.close(4000)))
            let options = RequestOptions { $0.webSocket.reconnects = true }
            let socket = try await Router<URLEndPoint>(session: session).webSocket(
                for: URLEndPoint(.get, URL(text: "https://example.com/"), options: options))
            let inbox = socket.connections.state.withLock { $0.connection.inbox }
            #expect(await comesTrue { inbox.result != nil })
            await socket.close()
            #expect(socket.closure?.code.rawValue == 4000)
        }
    }
}
