import Switchboard

/// The slots of a ``ConcurrencyLimiter``, and the requests that wait for one. Needs a lock around it.
struct Places: Sendable {
    struct Host: Sendable {
        var inFlight = 0
        var waiters = Waiters()
    }

    var limit: Int?
    var perHost: Int?
    private(set) var inFlight = 0
    var nextID = 0
    /// The hosts with a request in flight or waiting.
    var hosts: [String: Host] = [:]

    init(limit: Int?, perHost: Int?) {
        self.limit = limit
        self.perHost = perHost
    }

    func hasPlace(for name: String) -> Bool {
        inFlight < limit ?? .max && hosts[name]?.inFlight ?? 0 < perHost ?? .max && hosts[name]?.waiters.isEmpty ?? true
    }

    mutating func enter(_ name: String) -> Bool {
        guard hasPlace(for: name) else { return false }
        inFlight += 1
        hosts[name, default: Host()].inFlight += 1
        return true
    }

    mutating func leave(_ name: String) {
        inFlight -= 1
        hosts[name]?.inFlight -= 1
        forget(name)
    }

    mutating func remove(_ id: Int, _ name: String) -> Waiters.Turn? {
        let turn = hosts[name]?.waiters.remove(id)
        forget(name)
        return turn
    }

    /// Returns the continuations of the waiting requests that now have a slot, and counts their slots as used.
    mutating func nextTurns() -> [Waiters.Turn] {
        var turns: [Waiters.Turn] = []
        while inFlight < limit ?? .max, let name = firstName(), let turn = hosts[name]?.waiters.removeFirst() {
            inFlight += 1
            hosts[name]?.inFlight += 1
            turns.append(turn)
        }
        return turns
    }

    /// Returns the host with the longest-waiting request among the hosts that have a free slot.
    private mutating func firstName() -> String? {
        var first: (id: Int, name: String)?
        for name in hosts.keys where hosts[name]?.inFlight ?? 0 < perHost ?? .max {
            guard let id = hosts[name]?.waiters.first, id < first?.id ?? .max else { continue }
            first = (id, name)
        }
        return first?.name
    }

    private mutating func forget(_ name: String) {
        if let host = hosts[name], host.inFlight == 0, host.waiters.isEmpty { hosts[name] = nil }
    }
}
