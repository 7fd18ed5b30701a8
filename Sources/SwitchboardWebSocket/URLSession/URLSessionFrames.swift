import Foundation
import Switchboard

/// Converts the messages of URLSession to and from frames, so that all sessions share the code for limits, states,
/// recordings and reconnecting. Releasing it ends the connection.
final class URLSessionFrames: ResponseBytes.Source {
    private let socket: FoundationSocket
    private let limit: Int
    private let sending: Task<Void, Never>

    init(_ socket: FoundationSocket, _ upgrade: ConnectionUpgrade, limit: Int) {
        self.socket = socket
        self.limit = limit
        sending = Task {
            // The reader throws the error of a lost connection.
            try? await Self.send(upgrade.outgoing(), over: socket)
        }
        socket.onEndReported(upgrade.ended)
    }

    deinit {
        sending.cancel()
        socket.cancel()
    }

    private static func send(_ outgoing: HTTPBodyStream, over socket: FoundationSocket) async throws {
        var frames = ClientFrameParser()
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

/// Parses the masked frames of this side into messages, because URLSession frames the messages itself.
struct ClientFrameParser {
    private var bytes = Data()
    private var message: (isText: Bool, payload: Data)?

    /// Adds bytes of any number of frames.
    mutating func add(_ more: Data) { bytes = bytes.isEmpty ? more : bytes + more }

    /// Returns the next whole message or control frame, or nil when more bytes are needed.
    mutating func next() -> (opcode: Opcode, payload: Data)? {
        while let frame = nextFrame() {
            switch frame.opcode {
            case .text, .binary: message = (frame.opcode == .text, frame.payload)
            case .continuation: message?.payload += frame.payload
            default: return (frame.opcode, frame.payload)
            }
            guard frame.isFinal, let (isText, payload) = message else { continue }
            message = nil
            return (isText ? .text : .binary, payload)
        }
        return nil
    }

    private mutating func nextFrame() -> (opcode: Opcode, isFinal: Bool, payload: Data)? {
        let head = Array(bytes.prefix(14))
        guard head.count >= 2, let opcode = Opcode(rawValue: head[0] & 0x0F) else { return nil }
        let size = FrameHeader.size(head[1])
        guard head.count >= size + 4 else { return nil }
        let long = head[2..<size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let (start, length) = (size + 4, Int(size == 2 ? UInt64(head[1] & 0x7F) : long))
        guard bytes.count >= start + length else { return nil }
        var payload = Data(bytes.dropFirst(start).prefix(length))
        let key = head[size..<start].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        payload.withUnsafeMutableBytes { FrameWriter.mask(UnsafeRawBufferPointer($0), key, to: $0) }
        bytes = bytes.dropFirst(start + length)
        return (opcode, head[0] & 0x80 != 0, payload)
    }
}
