import Switchboard

/// Keeps what is decided during calls.
final class Events: EventMonitor {
    private let events = Deliveries<CallEvent>()

    var all: [CallEvent] { events.all }
    var texts: [String] { events.all.map { "\($0.kind)" } }

    func record(_ event: CallEvent) {
        events.add(event)
    }

    /// The event of that text, as soon as it is there.
    func wait(for text: String) async throws {
        var count = 1
        while true {
            let events = try await events.wait(for: count)
            if events.contains(where: { "\($0.kind)".contains(text) }) { return }
            count = events.count + 1
        }
    }
}
