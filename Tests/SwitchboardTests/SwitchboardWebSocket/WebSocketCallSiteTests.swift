import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardWebSocket
import Testing

/// Call sites that must compile as written.
@Suite("WebSocket call sites", .timeLimit(.minutes(3))) struct WebSocketCallSiteTests {
    private enum ChatApi: EndPointType {
        case room(Int)
        var baseURL: String { "https://chat.example.com" }
        var path: String {
            switch self {
            case .room(let number): "rooms/\(segment: "\(number)")"
            }
        }
    }

    #if os(Linux)
    @Test("an integer literal is a close code")
    func literal() async throws {
        try await MockServer.run { server in
            server.enqueue(.webSocket())
            let socket = try await Router<URLEndPoint>(session: CurlSession()).webSocket(
                for: URLEndPoint(.get, server.url))
            await socket.close(4001, reason: "seen")
            #expect(socket.closure?.code == 4001 && socket.closure?.code != .normalClosure)
            let seen = try await server.takeWebSocket()
            #expect(seen.closeCode == 4001 && seen.closeReason == "seen")
        }
    }
    #endif

    @Test("a manager opens sockets with values and with messages")
    func manager() async throws {
        let session = StubSession(.webSocket(.text("1"), .close()), .webSocket(.text("2"), .close()))
        let manager = NetworkManager(session: session)
        let typed = try await manager.webSocket(for: ChatApi.room(7), sending: String.self, receiving: Int.self)
        let number = try await typed.receive()
        let plain = try await manager.webSocket(for: ChatApi.room(8))
        let message = try await plain.receive()
        #expect(number == 1 && message == .text("2"))
        #expect(session.requests.map(\.url?.path) == ["/rooms/7", "/rooms/8"])
    }
}
