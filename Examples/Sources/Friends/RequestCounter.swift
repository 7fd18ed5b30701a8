import ExampleKit
import Switchboard

/// Counts the attempts that reach the network. Cache hits do not count.
struct RequestCounter: EventMonitor {
    private let memory = Memory(0)

    var count: Int { memory.use { $0 } }

    func record(_ event: CallEvent) {
        if case .exchangeStarted = event.kind { memory.use { $0 += 1 } }
    }
}
