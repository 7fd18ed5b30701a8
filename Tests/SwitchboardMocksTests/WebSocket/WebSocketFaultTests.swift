import Foundation
import Switchboard
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
        let pings = Task { while isSilent { clock.advance(by: try await clock.nextSleep(within: .seconds(300))) } }
        defer { pings.cancel() }
        var messages: [WebSocketMessage] = []
        for try await message in socket { messages.append(message) }
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

    @Test("the names of all faults differ")
    func names() {
        let names = (MockFault.all + MockFault.webSocket).map(\.name)
        #expect(Set(names).count == names.count)
    }
}
