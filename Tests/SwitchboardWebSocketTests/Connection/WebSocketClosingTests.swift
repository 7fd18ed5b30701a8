#if os(Linux)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTesting
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// The Close frames of this side, as the server receives them.
@Suite("WebSocket closing", .timeLimit(.minutes(10))) struct WebSocketClosingTests {
    typealias Route = WebSocketWireTests.Route
    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    private func open(
        _ server: MockServer, _ route: Route = .direct, clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> Socket {
        try await Router(session: route.session).webSocket(for: URLEndPoint(.get, server.url), clock: clock)
    }

    @Test("the longest timeouts do not trap")
    func endlessTimeouts() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("in"), .close()))
            let options = RequestOptions {
                $0.webSocket.closeTimeout = .seconds(Int64.max)
                $0.webSocket.pingInterval = .seconds(Int64.max)
            }
            let socket = try await Router<URLEndPoint>().webSocket(for: URLEndPoint(.get, server.url, options: options))
            #expect(try await socket.receive() == .text("in"))
            #expect(try await socket.receive() == nil)
            await socket.close()
        }
    }

    @Test("a released socket still answers the server's Close frame", arguments: Route.allCases)
    func answered(_ route: Route) async throws {
        try await MockServer.run { server in
            for _ in 0..<50 {
                server.enqueue(.webSocket(.text("1"), .close(4000, reason: "enough")))
                do {
                    let socket = try await open(server, route)
                    for try await _ in socket {}
                    #expect(socket.closure?.code.rawValue == 4000 && socket.closure?.isFromServer == true)
                }
                let seen = try await server.takeWebSocket()
                #expect(seen.closeCode == 4000)
            }
        }
    }

    @Test("the answer to a Close frame is sent before the end can be read")
    func answersAtOnce() throws {
        let taker = Taker()
        let connection = WebSocketConnection(SendQueue(), WebSocketOptions(), nil, clock: ContinuousClock())
        let reading = FrameCoding(MessageFramer(connection.queue), MessageReader(limit: 1 << 10))
        reading.framer.send(over: taker)
        let count = bytes("8802 03E8 00").withUnsafeBytes { connection.receive($0, reading) }
        #expect(count == 4)
        let frame = try #require(taker.sent.value.first)
        #expect(frame.prefix(2) == bytes("8882") && taker.sent.value.count == 1)
    }

    @Test("leaving the loop sends 1001", arguments: Route.allCases)
    func leaving(_ route: Route) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .text("2"), .text("3")))
            let socket = try await open(server, route, clock: TestClock())
            for try await _ in socket { break }
            #expect(socket.closure?.code == .goingAway && socket.closure?.isFromServer == false)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
        }
    }

    @Test("canceling the reading task sends 1001", arguments: Route.allCases)
    func canceling(_ route: Route) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1")))
            let socket = try await open(server, route, clock: TestClock())
            let begun = Gate()
            let reading = Task {
                for try await _ in socket { begun.open() }
            }
            try await begun.wait()
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(socket.closure?.code == .goingAway && socket.closure?.isFromServer == false)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
            let late = await #expect(throws: NetworkError.self) { try await socket.send(.text("late")) }
            #expect(late?.code == .webSocketClosed)
        }
    }

    @Test("releasing the socket sends 1001", arguments: Route.allCases)
    func releasing(_ route: Route) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            var socket: Socket? = try await open(server, route, clock: TestClock())
            let states = try #require(socket).states
            socket = nil
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
            var last: WebSocketState?
            for await state in states { last = state }
            guard case .closed(let closure) = last else { throw NetworkError(.unknown, reason: "\(last as Any)") }
            #expect(closure?.code == .goingAway && closure?.isFromServer == false)
        }
    }

    @Test("an error of the first subscription sends 1001")
    func subscription() async throws {
        struct Refused: Error {}
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            await #expect(throws: Refused.self) {
                try await Router<URLEndPoint>(session: CurlSession()).webSocket(for: URLEndPoint(.get, server.url)) {
                    _, _ in
                    throw Refused()
                }
            }
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 1001)
        }
    }

    @Test("canceling the reading task leaves a silent server", arguments: Route.allCases)
    func silent(_ route: Route) async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.text("1"), .stall))
            let socket = try await open(server, route)
            let begun = Gate()
            let reading = Task {
                for try await _ in socket { begun.open() }
            }
            try await begun.wait()
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            try await server.waitForDisconnect()
        }
    }

    @Test("a released socket leaves a silent server after the timeout")
    func releasedSilently() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket(.stall))
            let clock = TestClock()
            var socket: Socket? = try await open(server, clock: clock)
            #expect(socket != nil)
            socket = nil
            #expect(try await clock.nextSleep() == .seconds(10))
            clock.advance(by: .seconds(10))
            try await server.waitForDisconnect()
        }
    }

    @Test("after a Close frame of this side, a lost connection is no error", arguments: [false, true])
    func lostAfterClose(isReset: Bool) async throws {
        let connection = WebSocketConnection(SendQueue(), WebSocketOptions(), nil, clock: ContinuousClock())
        let dropped = Gate()
        let received = ResponseBytes {
            try await dropped.wait()
            if isReset { throw NetworkError(.connectionLost) }
            return nil
        }
        connection.start(received, FrameCoding(MessageFramer(connection.queue), MessageReader(limit: 1 << 10)))
        connection.startClosing(.normalClosure, "")
        dropped.open()
        let message = try await connection.inbox.next()
        #expect(message == nil && connection.closure?.code == .normalClosure)
    }

    @Test("the closure has the reason that was sent, which is cut at 123 bytes")
    func reason() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            let socket = try await open(server)
            await socket.close(.normalClosure, reason: String(repeating: "é", count: 100))
            let seen = try await server.takeWebSocket()
            #expect(seen.closeReason == String(repeating: "é", count: 61))
            #expect(socket.closure?.reason == seen.closeReason)
        }
    }
}

/// A connection that takes everything.
private final class Taker: UpgradedConnection {
    let sent = Protected<[Data]>([])

    func trySend(_ bytes: UnsafeRawBufferPointer) -> Bool {
        sent.withLock { $0.append(Data(bytes)) }
        return true
    }

    func setReceiver(_ receiver: @escaping @Sendable (UnsafeRawBufferPointer) -> Int?) {}
}
#endif
