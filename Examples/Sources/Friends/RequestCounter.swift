import ExampleKit
import Switchboard

/// Counts what gets as far as the network: it hears of each attempt, and a stored answer is none.
struct RequestCounter: EventMonitor {
    private let memory = Memory(0)

    var count: Int { memory.use { $0 } }

    func record(_ event: CallEvent) {
        if case .exchange = event.kind { memory.use { $0 += 1 } }
    }
}
