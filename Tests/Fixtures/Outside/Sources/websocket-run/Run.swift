import Foundation
import Switchboard
import SwitchboardWebSocket

/// The checks against one server.
struct Run: Sendable {
    let url: URL
    let messages: Int
    let isCompressed: Bool

    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    var checks: [(name: String, check: @Sendable () async throws -> Void)] {
        [
            ("sizes", sizes), ("many", many), ("large", large), ("pings", pings), ("fragments", fragments),
            ("subprotocol", subprotocol), ("close by the client", closing), ("close by the server", closed),
            ("close by both", race), ("cancellation", cancellation),
        ]
    }

    private func open(_ change: (inout WebSocketOptions) -> Void = { _ in }) async throws -> Socket {
        var settings = WebSocketOptions()
        settings.compression = isCompressed ? WebSocketCompression() : nil
        settings.messageLimit = 80 << 20
        change(&settings)
        let options = RequestOptions { [settings] in $0.webSocket = settings }
        return try await Router<URLEndPoint>().webSocket(for: URLEndPoint(.get, url, options: options))
    }

    /// Sends a message, and expects it back.
    private func echo(_ message: WebSocketMessage, _ socket: Socket) async throws {
        async let sent: Void = socket.send(message)
        let answer = try await socket.receive()
        try await sent
        try expect(answer == message, "another message came back")
    }

    private func sizes() async throws {
        let socket = try await open()
        for size in [0, 1, 7, 125, 126, 127, 1_000, 65_535, 65_536, 131_072, 131_073, 1 << 20] {
            try await echo(.text(String(repeating: "é", count: size / 2) + (size % 2 == 0 ? "" : "x")), socket)
            try await echo(.binary(Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })), socket)
        }
        await socket.close()
        try expect(socket.closure?.code == .normalClosure, "closed with \(String(describing: socket.closure))")
    }

    private func many() async throws {
        let socket = try await open()
        async let sent: Void = {
            for number in 0..<messages { try await socket.send(.text("message \(number)")) }
        }()
        for number in 0..<messages {
            let answer = try await socket.receive()
            try expect(answer == .text("message \(number)"), "\(String(describing: answer)) instead of \(number)")
        }
        try await sent
        await socket.close()
    }

    private func large() async throws {
        let socket = try await open()
        try await echo(.binary(Data((0..<(16 << 20)).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })), socket)
        await socket.close()
    }

    private func pings() async throws {
        let socket = try await open()
        for _ in 0..<20 { try await socket.ping() }
        await socket.close()
    }

    private func fragments() async throws {
        let socket = try await open()
        try await socket.send(.text("fragments Hé llo"))
        let answer = try await socket.receive()
        try expect(answer == .text("Héllo"), "\(String(describing: answer))")
        await socket.close()
    }

    private func subprotocol() async throws {
        let socket = try await open { $0.subprotocols = ["other", "echo"] }
        try expect(socket.subprotocol == "echo", "\(socket.subprotocol ?? "none")")
        try await echo(.text("still"), socket)
        await socket.close()
    }

    private func closing() async throws {
        let socket = try await open()
        await socket.close(WebSocketCloseCode(rawValue: 3_001), reason: "enough")
        try expect(
            socket.closure?.code.rawValue == 3_001 && socket.closure?.isByServer == false,
            "\(String(describing: socket.closure))")
        do {
            try await socket.send(.text("late"))
            throw Mismatch(text: "a message was sent after the end")
        } catch let error as NetworkError where error.code == .webSocketClosed {}
    }

    private func closed() async throws {
        let socket = try await open()
        try await socket.send(.text("close"))
        let answer = try await socket.receive()
        try expect(
            answer == nil && socket.closure?.code == .goingAway && socket.closure?.isByServer == true,
            "\(String(describing: socket.closure))")
    }

    private func race() async throws {
        for _ in 0..<30 {
            let socket = try await open()
            try await socket.send(.text("close"))
            await socket.close(.normalClosure, reason: "me too")
            try expect(socket.closure != nil, "no closure")
        }
    }

    private func cancellation() async throws {
        for number in 0..<30 {
            let socket = try await open()
            let reading = Task { for try await _ in socket {} }
            try? await socket.send(.text("\(number)"))
            reading.cancel()
            do {
                try await reading.value
                throw Mismatch(text: "the reading ended without an error")
            } catch is CancellationError {}
        }
    }
}
