import Foundation
import Switchboard
import SwitchboardWebSocket

/// The use and the end of a WebSocket.
enum SocketLife: CaseIterable {
    case handshake, reading, echoing, sending, blocked, flooded, flooding, pinging
    case leaving, releasing, closing, closingUnanswered, closingWhileReading
    case dropped, reset, closed, violated

    /// Whether only cancellation ends the socket.
    var isEndless: Bool {
        switch self {
        case .handshake, .reading, .echoing, .sending, .blocked, .flooding, .pinging, .closingUnanswered: true
        default: false
        }
    }

    /// Returns whether the socket may end with this error.
    func permits(_ error: any Error) -> Bool {
        guard let code = (error as? NetworkError)?.code else { return error is CancellationError }
        if code == .cancelled { return true }
        return switch self {
        case .dropped, .reset: code == .connectionLost
        case .violated: code == .invalidResponse
        case .closing, .closingWhileReading, .closed: code == .webSocketClosed
        default: false
        }
    }

    private var path: String {
        switch self {
        case .handshake: "/silent"
        case .echoing, .sending, .pinging, .closing, .releasing: "/echo"
        case .flooded, .flooding, .leaving, .closingWhileReading: "/flood"
        case .reading, .blocked, .closingUnanswered: "/stall"
        case .dropped: "/drop"
        case .reset: "/reset"
        case .closed: "/close"
        case .violated: "/wrong"
        }
    }

    /// Opens a socket, uses it and ends it.
    func play(_ router: Router<URLEndPoint>, _ base: URL) async throws {
        let options = RequestOptions {
            $0.timeouts = .none
            $0.webSocket.receiveBufferLimit = 1 << 16
            // Only cancellation ends a `close()` without an answer. Released sockets wait too, and must be gone at the end.
            $0.webSocket.closeTimeout = self == .closingUnanswered ? .seconds(600) : .seconds(1)
        }
        let endPoint = URLEndPoint(.get, base.appendingPathComponent(path), options: options)
        let socket = try await router.webSocket(for: endPoint)
        switch self {
        case .handshake, .releasing: break
        case .reading, .flooded, .dropped, .reset, .closed, .violated: for try await _ in socket {}
        case .leaving: for try await _ in socket { break }
        case .echoing:
            while true {
                try await socket.send(.text("soak"))
                _ = try await socket.receive()
            }
        case .sending:
            async let _: Void = { for try await _ in socket {} }()
            while true { try await socket.send(.binary(Data(count: 300_000))) }
        case .blocked: while true { try await socket.send(.binary(Data(count: 2_000_000))) }
        case .flooding: try await Task.sleep(for: .seconds(3_600))
        case .pinging: while true { try await socket.ping() }
        case .closing, .closingUnanswered: await socket.close()
        case .closingWhileReading:
            async let reading: Void = { for try await _ in socket {} }()
            await socket.close()
            try await reading
        }
        try Task.checkCancellation()
    }
}
