import Switchboard

/// Records the events of calls.
package final class Events: EventMonitor {
    private let events = Deliveries<CallEvent>()

    package init() {}

    package var all: [CallEvent] { events.all }
    package var texts: [String] { events.all.map { "\($0.kind)" } }

    package func record(_ event: CallEvent) {
        events.add(event)
    }

    /// Waits for `count` events with that text.
    package func wait(for text: String, count: Int = 1) async throws {
        var known = count
        while true {
            let events = try await events.wait(for: known)
            if events.count(where: { "\($0.kind)".contains(text) }) >= count { return }
            known = events.count + 1
        }
    }

    /// Waits for the last event of a call.
    package func end() async throws -> CallEvent.Kind {
        var known = 1
        while true {
            let events = try await events.wait(for: known)
            for event in events {
                switch event.kind {
                case .finished, .failed, .cancelled: return event.kind
                default: continue
                }
            }
            known = events.count + 1
        }
    }
}
