import Foundation
import Switchboard
import SwitchboardPlatform
import Testing
import SwitchboardTestSupport
@testable import SwitchboardWebSocket

/// Runs a case over a connection whose bytes come from memory.
struct ClientRun {
    private struct Sent {
        var messages: [WebSocketMessage] = []
        var pongs: [Data] = []
        var close: Data?
        var hasUnmasked = false
    }

    private let step: ClientCase
    private let sent = Protected(Sent())
    private let answered = Gate()
    private let closed = Gate()
    private let position = Protected(0)

    /// Checks the reaction to the bytes in pieces of a size.
    static func check(_ step: ClientCase, by size: Int) async throws {
        let run = ClientRun(step)
        let (received, failure) = try await run.play(by: size)
        let sent = run.sent.value
        #expect(received == step.messages, "by \(size)")
        #expect(!sent.hasUnmasked)
        // RFC 6455 §5.5.3: a client may answer only the last of several pings.
        #expect(sent.pongs.allSatisfy(step.pongs.contains))
        switch step.end {
        case .normal:
            #expect(sent.messages == step.messages, "by \(size)")
            #expect(sent.pongs.last == step.pongs.last)
            #expect(sent.close == ClientCase.closePayload(1000) && failure == nil, "by \(size)")
        case .close(let payload): #expect(sent.close == payload && failure == nil, "by \(size)")
        case .refusal(let code):
            #expect(sent.messages == Array(step.messages.prefix(sent.messages.count)))
            #expect(sent.close?.prefix(2) == ClientCase.closePayload(code), "by \(size)")
            #expect(
                (failure as? NetworkError)?.code == (code == 1009 ? .responseTooLarge : .invalidResponse), "by \(size)")
        }
    }

    private init(_ step: ClientCase) {
        self.step = step
    }

    private func play(by size: Int) async throws -> ([WebSocketMessage], (any Error)?) {
        let queue = SendQueue()
        let frames = MessageFramer(queue)
        var options = WebSocketOptions()
        options.messageLimit = step.limit
        let connection = WebSocketConnection(queue, options, nil, clock: ContinuousClock())
        let incoming = ResponseBytes { try await nextPiece(size) }
        connection.start(incoming, FrameCoding(frames, try reader(frames)))
        async let taking: Void = take(from: frames)
        var received: [WebSocketMessage] = []
        var failure: (any Error)?
        do {
            while let message = try await connection.inbox.next() {
                received.append(message)
                try? await queue.send(message)
            }
        } catch {
            failure = error
        }
        try await taking
        return (received, failure)
    }

    private func reader(_ frames: MessageFramer) throws -> MessageReader {
        guard let compression = step.compression else { return MessageReader(limit: step.limit) }
        let zlib = try Zlib.loaded.get()
        let deflater = try MessageDeflater(
            zlib, windowBits: compression.windowBits, keepsContext: compression.allowsClientContextTakeover)
        frames.compress(with: deflater, threshold: 1)
        let inflater = try MessageInflater(zlib, keepsContext: compression.allowsServerContextTakeover)
        return MessageReader(limit: step.limit, inflater: inflater)
    }

    /// Returns the server's next bytes. It closes with 1000 after the answers, and ends after the client's Close frame.
    private func nextPiece(_ size: Int) async throws -> Data? {
        let piece = position.withLock { position -> Data in
            let piece = step.wire.dropFirst(position).prefix(size)
            position += piece.count
            return Data(piece)
        }
        if !piece.isEmpty { return piece }
        let isClosing = position.withLock { position in
            defer { position = step.wire.count + 1 }
            return position == step.wire.count
        }
        if isClosing, case .normal = step.end {
            if !step.messages.isEmpty || !step.pongs.isEmpty { try await answered.wait() }
            return ClientCase.close(1000)
        }
        try await closed.wait()
        return nil
    }

    // MARK: The client's frames

    private func take(from frames: MessageFramer) async throws {
        let inflater = try MessageInflater(
            Zlib.loaded.get(), keepsContext: step.compression?.allowsClientContextTakeover ?? true)
        var message: (opcode: UInt8, isCompressed: Bool, content: Data)?
        while let frame = await frames.next() {
            let (opcode, payload) = unmask(frame)
            switch opcode {
            case 0x8: sent.withLock { $0.close = payload }
            case 0xA: sent.withLock { $0.pongs.append(payload) }
            default:
                let first = message ?? (opcode, frame[0] & 0x40 != 0, Data())
                message = (first.opcode, first.isCompressed, first.content + payload)
            }
            if frame[0] & 0x80 != 0, opcode < 8, let (opcode, isCompressed, packed) = message {
                let content = isCompressed ? try inflater.content(of: packed) : packed
                let text = String(decoding: content, as: UTF8.self)
                sent.withLock { $0.messages.append(opcode == 1 ? .text(text) : .binary(content)) }
                message = nil
            }
            let isDone = sent.withLock {
                $0.messages.count == step.messages.count && $0.pongs.last == step.pongs.last
            }
            if isDone { answered.open() }
        }
        closed.open()
    }

    private func unmask(_ frame: Data) -> (UInt8, Data) {
        let bytes = [UInt8](frame)
        if bytes[1] & 0x80 == 0 { sent.withLock { $0.hasUnmasked = true } }
        let start = bytes[1] & 0x7F == 126 ? 4 : bytes[1] & 0x7F == 127 ? 10 : 2
        var payload = Array(bytes[(start + 4)...])
        for index in payload.indices { payload[index] ^= bytes[start + index & 3] }
        return (bytes[0] & 0x0F, Data(payload))
    }
}
