import Foundation
import Switchboard

/// The frames of a socket whose system sends and receives whole messages, as URLSession does. So limits, states,
/// recordings and reconnecting are the same over every session. Releasing it ends the connection.
final class SystemFrames: ResponseBytes.Source {
    private let socket: FoundationSocket
    private let limit: Int
    private let sending: Task<Void, Never>

    init(_ socket: FoundationSocket, _ upgrade: ConnectionUpgrade, limit: Int) {
        self.socket = socket
        self.limit = limit
        sending = Task {
            // The reader gets the error of a lost connection.
            try? await Self.send(upgrade.outgoing(), over: socket)
        }
        socket.whenReported(upgrade.ended)
    }

    deinit {
        sending.cancel()
        socket.cancel()
    }

    private static func send(_ outgoing: HTTPBodyStream, over socket: FoundationSocket) async throws {
        var frames = ClientFrames()
        for try await bytes in outgoing {
            frames.add(bytes)
            while let (opcode, payload) = frames.next() {
                switch opcode {
                case .text, .binary: try await socket.send(.message(payload, isText: opcode == .text))
                case .ping: try await socket.send(.ping(payload))
                case .close:
                    let code = payload.count < 2 ? nil : payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
                    try await socket.send(.close(code, reason: Data(payload.dropFirst(2))))
                case .pong, .continuation: break
                }
            }
        }
    }

    var request: NetworkRequest? { socket.request }

    func next() async throws -> Data? {
        guard let event = try await socket.next() else { return nil }
        switch event {
        case .message(let payload, let isText): return FrameWriter.frame(isText ? .text : .binary, payload, key: nil)
        case .ping(let payload): return FrameWriter.frame(.ping, payload, key: nil)
        case .pong(let payload): return FrameWriter.frame(.pong, payload, key: nil)
        case .close(let code, let reason):
            let bytes = code.map { code in withUnsafeBytes(of: code.bigEndian) { Data($0) } } ?? Data()
            return FrameWriter.frame(.close, bytes + reason, key: nil)
        case .oversized: return FrameWriter.header(.binary, length: UInt64(max(0, limit)) + 1)
        }
    }
}
