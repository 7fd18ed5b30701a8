import Foundation
import Switchboard
import SwitchboardWebSocket

/// The checks against one server.
struct Run: Sendable {
    let url: URL
    let messages: Int
    let isCompressed: Bool
    private let mebibytes: Int
    private let router: Router<URLEndPoint>

    typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    init(url: URL, messages: Int, mebibytes: Int, authority: String, isCompressed: Bool) {
        (self.url, self.messages, self.mebibytes, self.isCompressed) = (url, messages, mebibytes, isCompressed)
        var configuration = SessionConfiguration(maximumConnectionsPerHost: 64)
        configuration.proxy = .none
        configuration.tls.extraAuthorities = [.file(URL(fileURLWithPath: authority))]
        router = Router(session: CurlSession(configuration: configuration))
    }

    var checks: [(name: String, check: @Sendable () async throws -> Void)] {
        [
            ("sizes", sizes), ("many", many), ("large", large), ("pieces", pieces), ("pings", pings),
            ("fragments", fragments), ("subprotocol", subprotocol), ("slow reader", slowReader),
        ] + races
    }

    func open(_ change: (inout WebSocketOptions) -> Void = { _ in }) async throws -> Socket {
        var settings = WebSocketOptions()
        settings.compression = isCompressed ? WebSocketCompression() : nil
        settings.messageLimit = 80 << 20
        change(&settings)
        let options = RequestOptions { [settings] in $0.webSocket = settings }
        return try await router.webSocket(for: URLEndPoint(.get, url, options: options))
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

    /// Checks a large message, which the client sends in fragments.
    private func large() async throws {
        let socket = try await open()
        var message = Data(count: mebibytes << 20)
        for place in stride(from: 0, to: message.count, by: 97) {
            message[place] = UInt8(truncatingIfNeeded: place >> 7)
        }
        try await echo(.binary(message), socket)
        if isCompressed {
            let sent = socket.metrics.bytesSent
            try expect(sent <= Int64(message.count / 2), "the server accepted no compression: \(sent) bytes were sent")
        }
        await socket.close()
    }

    /// Checks a large message that the server sends in fragments, where its library can.
    private func pieces() async throws {
        let socket = try await open()
        try await socket.send(.text("pieces \(mebibytes * 16) 65536"))
        let answer = try await socket.receive()
        try expect(answer == .binary(Data(repeating: 0x70, count: mebibytes << 20)), "another message came")
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

    /// Checks that a server waits for the reader when it has far more to send than fits into the buffers.
    private func slowReader() async throws {
        let count = mebibytes * 8
        let socket = try await open { $0.receiveBufferLimit = 1 << 17 }
        try await socket.send(.text("flood \(count) 131072"))
        for number in 0..<count {
            if number < 10 { try await Task.sleep(for: .milliseconds(5)) }
            let answer = try await socket.receive()
            try expect(answer == .binary(Data(repeating: 0x66, count: 131_072)), "message \(number) differs")
        }
        await socket.close()
    }
}
