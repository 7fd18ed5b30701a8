import Foundation
import Testing
@testable import SwitchboardWebSocket

/// A client's reaction to each case of [RFC 6455](https://www.rfc-editor.org/rfc/rfc6455), by section: it receives the
/// bytes in pieces and sends the messages back.
@Suite("WebSocket client", .timeLimit(.minutes(10))) struct WebSocketClientTests {
    private func check(_ step: ClientCase) async throws {
        for size in step.wire.count <= 600 ? [1, .max] : [997, .max] { try await ClientRun.check(step, by: size) }
    }

    @Test("framing: lengths of §5.2 come back", arguments: ClientCase.framing)
    func framing(_ step: ClientCase) async throws { try await check(step) }

    @Test("pings and pongs of §5.5 are answered or refused", arguments: ClientCase.pings)
    func pings(_ step: ClientCase) async throws { try await check(step) }

    @Test("reserved bits of §5.2 are refused", arguments: ClientCase.reservedBits)
    func reservedBits(_ step: ClientCase) async throws { try await check(step) }

    @Test("reserved opcodes of §5.2 are refused", arguments: ClientCase.opcodes)
    func opcodes(_ step: ClientCase) async throws { try await check(step) }

    @Test("fragments of §5.4 are joined or refused", arguments: ClientCase.fragmentation)
    func fragmentation(_ step: ClientCase) async throws { try await check(step) }

    @Test("texts of §8.1 come back, and other bytes are refused", arguments: ClientCase.texts)
    func texts(_ step: ClientCase) async throws { try await check(step) }

    @Test("Close frames of §5.5.1 are answered or refused", arguments: ClientCase.closing)
    func closing(_ step: ClientCase) async throws { try await check(step) }

    @Test("lengths over the limits of §10.4 are refused", arguments: ClientCase.limits)
    func limits(_ step: ClientCase) async throws { try await check(step) }

    @Test("large messages and many messages come back", arguments: ClientCase.large)
    func large(_ step: ClientCase) async throws { try await ClientRun.check(step, by: 65_536) }

    @Test("compressed messages of RFC 7692 come back", arguments: ClientCase.compression)
    func compression(_ step: ClientCase) async throws { try await ClientRun.check(step, by: 65_536) }

    @Test("bytes split at any point give the same events")
    func splits() throws {
        let steps = [
            ClientCase.framing, ClientCase.pings, ClientCase.reservedBits, ClientCase.opcodes, ClientCase.fragmentation,
            ClientCase.texts, ClientCase.closing, ClientCase.limits,
        ].joined()
        for step in steps where step.wire.count <= 600 {
            let whole = outcome([step.wire], limit: step.limit)
            for index in 1..<max(1, step.wire.count) {
                let parts = [Data(step.wire.prefix(index)), Data(step.wire.dropFirst(index))]
                let split = outcome(parts, limit: step.limit)
                #expect(split == whole, "\(step.testDescription), split at \(index)")
            }
        }
    }

    private struct Outcome: Equatable {
        var events: [WebSocketEvent] = []
        var violation: WebSocketViolation?
    }

    private func outcome(_ parts: [Data], limit: Int) -> Outcome {
        var (reader, outcome) = (MessageReader(limit: limit), Outcome())
        do throws(WebSocketViolation) {
            for var part in parts {
                while let event = try reader.next(&part) { outcome.events.append(event) }
            }
        } catch {
            outcome.violation = error
        }
        return outcome
    }
}
