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
        try await first { events in
            events.count { "\($0.kind)".contains(text) } >= count ? () : nil
        }
    }

    /// Waits for the last event of a call.
    package func end() async throws -> CallEvent.Kind {
        try await first { events in
            for event in events {
                switch event.kind {
                case .finished, .failed, .cancelled: return event.kind
                default: continue
                }
            }
            return nil
        }
    }

    /// Waits until the events have a result.
    private func first<Output>(_ result: ([CallEvent]) -> Output?) async throws -> Output {
        var known = 1
        while true {
            let events = try await events.wait(for: known)
            if let result = result(events) { return result }
            known = events.count + 1
        }
    }
}
