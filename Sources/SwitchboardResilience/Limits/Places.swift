import Switchboard

/// The places of a ``ConcurrencyLimiter``, and who waits for one. Not locked by itself.
struct Places: Sendable {
    struct Host: Sendable {
        var inFlight = 0
        var waiters = Waiters()
    }

    var limit: Int?
    var perHost: Int?
    private(set) var inFlight = 0
    var nextID = 0
    /// Those with a request under way or waiting.
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

    /// Those whose turn it is, whose places are counted then.
    mutating func nextTurns() -> [Waiters.Turn] {
        var turns: [Waiters.Turn] = []
        while inFlight < limit ?? .max, let name = firstName(), let turn = hosts[name]?.waiters.removeFirst() {
            inFlight += 1
            hosts[name]?.inFlight += 1
            turns.append(turn)
        }
        return turns
    }

    /// The host whose first waiter came before those of all other hosts that have a place.
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
