import Foundation
import Switchboard

/// Plays the steps of a WebSocket for a ``StubSession``, as its reader asks for bytes.
actor StubPeer {
    private var peer: ScriptedPeer
    private let outgoing: HTTPBodyStream
    private let clock: any Clock<Duration>
    private let check: Check
    private var checked = 0

    /// Checks the message with an index.
    typealias Check = @Sendable (Int, RecordedWebSocket.Message) throws -> Void

    init(
        _ steps: [WebSocketStep], _ outgoing: HTTPBodyStream, _ clock: any Clock<Duration>, _ check: @escaping Check
    ) {
        peer = ScriptedPeer(steps)
        self.outgoing = outgoing
        self.clock = clock
        self.check = check
    }

    /// Returns the next bytes of the server, or nil at the end.
    func next() async throws -> Data? {
        while true {
            switch peer.next() {
            case .send(let bytes): return bytes
            case .pause(let time): try await clock.sleep(for: time)
            case .read:
                guard let bytes = try await outgoing.next() else { return nil }
                peer.take(bytes)
                for (index, message) in peer.messages.enumerated().dropFirst(checked) { try check(index, message) }
                checked = peer.messages.count
            case .end(.stall): while true { try await clock.sleep(for: .seconds(3_600)) }
            case .end(.reset):
                throw NetworkError(.connectionLost, reason: "StubSession: scripted to reset the connection")
            case .end: return nil
            }
        }
    }
}
