import Foundation
import Switchboard

/// Plays the steps of a WebSocket as its server. Its caller sends, waits and reads.
struct ScriptedPeer {
    /// The next task of the caller.
    enum Task {
        case send(Data)
        case pause(Duration)
        /// Read bytes of the client, for ``take(_:)``.
        case read
        case end(MockResponse.Break)
    }

    typealias Message = RecordedWebSocket.Message

    private var steps: ArraySlice<WebSocketStep>
    private var scanner = MessageScanner(isOfClient: true)
    /// Finds the Close frame among the scripted bytes, which need not be whole frames.
    private var sent = MessageScanner()
    /// The number of messages that steps have received.
    private var received = 0
    private var output: [Data] = []
    private var hasSentClose = false
    private var isOver = false
    private(set) var messages: [Message] = []
    /// The code and the reason of the client's Close frame.
    private(set) var closure: (code: UInt16?, reason: String)?

    init(_ steps: [WebSocketStep]) { self.steps = steps[...] }

    private var isAtEnd: Bool {
        if case .end = steps.first?.action { true } else { false }
    }

    /// Adds bytes of the client. ``next()`` then answers pings and a Close frame, or closes the connection after a
    /// frame that breaks a rule. Once the next step ends the connection or stalls, nothing is answered.
    mutating func take(_ bytes: Data) {
        for (opcode, payload) in scanner.take(bytes) {
            switch opcode {
            case 0x8: close(payload)
            case 0x9: if !isAtEnd { output.append(ServerFrames.frame(0xA, payload)) }
            case 0xA: break
            default: messages.append(Message(isText: opcode == 0x1, payload: payload))
            }
        }
        if let fault = scanner.fault { end(with: Data([0x03, 0xEA]) + Data(fault.utf8)) }
    }

    private mutating func close(_ payload: Data) {
        let code = payload.count >= 2 ? payload.prefix(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) } : nil
        closure = (code, String(decoding: payload.dropFirst(2), as: UTF8.self))
        end(with: payload)
    }

    /// Ends with a Close frame, unless the script has sent one or is at its end.
    private mutating func end(with payload: Data) {
        if isAtEnd { return }
        if !hasSentClose { output.append(ServerFrames.frame(0x8, payload)) }
        (hasSentClose, isOver) = (true, true)
    }

    mutating func next() -> Task {
        if !output.isEmpty { return .send(output.removeFirst()) }
        if isOver { return .end(.close) }
        while case .receive? = steps.first?.action, received < messages.count {
            received += 1
            steps.removeFirst()
        }
        guard let step = steps.first else { return .read }
        switch step.action {
        case .send(let bytes):
            steps.removeFirst()
            hasSentClose = sent.take(bytes).contains { $0.opcode == 0x8 } || hasSentClose
            return .send(bytes)
        case .pause(let time):
            steps.removeFirst()
            return .pause(time)
        case .end(let ending): return .end(ending)
        case .receive: return .read
        case .echo:
            guard received < messages.count else { return .read }
            let message = messages[received]
            received += 1
            return .send(ServerFrames.frame(message.isText ? 0x1 : 0x2, message.payload))
        }
    }
}

/// Plays the steps of a WebSocket for a ``StubSession``, as its reader asks for bytes.
actor StubPeer {
    private var peer: ScriptedPeer
    private let outgoing: HTTPBodyStream
    private let confirm: @Sendable () -> CheckedContinuation<Void, any Error>?
    private let clock: any Clock<Duration>
    private let loss: NetworkError
    private let check: Check
    private var checked = 0

    typealias Check = @Sendable (Int, RecordedWebSocket.Message) throws -> Void

    init(
        _ steps: [WebSocketStep], _ upgrade: ConnectionUpgrade, _ clock: any Clock<Duration>, _ loss: NetworkError,
        _ check: @escaping Check
    ) {
        peer = ScriptedPeer(steps)
        outgoing = upgrade.outgoing()
        confirm = upgrade.confirm
        self.clock = clock
        self.loss = loss
        self.check = check
    }

    func next() async throws -> Data? {
        while true {
            switch peer.next() {
            case .send(let bytes): return bytes
            case .pause(let time): try await clock.sleep(for: time)
            case .read:
                guard let bytes = try await outgoing.next() else { return nil }
                peer.take(bytes)
                for index in checked..<peer.messages.count { try check(index, peer.messages[index]) }
                checked = peer.messages.count
                confirm()?.resume()  // the steps may end without asking for more
            case .end(.stall): while true { try await clock.sleep(for: .seconds(3_600)) }
            case .end(.reset): throw loss
            case .end: return nil
            }
        }
    }
}
