import Foundation
import SwitchboardJSON
import SwitchboardMocks

/// Sends the changes of the calls as server-sent events, until one side ends. A slow client gets the last state of each
/// call, and nothing is queued for it.
struct EventFeed {
    let socket: Socket
    let channel: ByteChannel
    let end: StopSignal
    let server: InspectorServer

    private struct Removal: Encodable {
        let ids: [Int]
    }

    func run() throws {
        var position = CallStore.Position()
        while !server.isStopped {
            let changes = server.calls.changes(after: &position)
            if changes.isEmpty {
                guard try waitForChange(after: position) else { return }
            } else {
                try send(changes)
            }
        }
    }

    private func send(_ changes: CallStore.Changes) throws {
        let encoder = FastJSONEncoder()
        var events = Data()
        func add(_ name: String, _ data: Data) {
            events += Data("event: \(name)\ndata: ".utf8) + data + Data("\n\n".utf8)
        }
        if changes.isReset { add("reset", Data("{}".utf8)) }
        if !changes.removed.isEmpty { add("removed", try encoder.encode(Removal(ids: Array(changes.removed)))) }
        if !changes.calls.isEmpty {
            let masking = TextMasking(server.calls)
            for call in changes.calls { add("call", try encoder.encode(CallSummary(call, masking))) }
        }
        try send(events)
    }

    private func send(_ bytes: Data) throws {
        channel.deadline = .now + server.times.answer
        try channel.send(bytes)
    }

    /// Waits for a change. Returns false when the client has left.
    private func waitForChange(after position: CallStore.Position) throws -> Bool {
        let signal = try StopSignal()
        guard server.calls.wake(signal, after: position) else { return !server.isStopped }
        defer { server.calls.forget(signal) }
        while true {
            switch socket.wait(for: .readable, stop: signal, until: .now + server.times.heartbeat) {
            case .timedOut: try send(Data(":\n\n".utf8))
            case .stopped:
                // Collects the changes of a short time, so that the app's calls do not wait for the page.
                return socket.wait(for: .broken, stop: end, until: .now + server.times.pause) == .timedOut
            case .ready:
                // The client sends nothing more, so it has left.
                return false
            }
        }
    }
}
