import Foundation
import SwitchboardPlatform

/// The order of all events of a run, and the responses that a cache may have stored because of them (RFC 9111).
final class ModelHistory: Sendable {
    struct Call: Sendable {
        let request: ModelRequest
        let begin: Int
        /// The clock when the call began.
        let requestTime: Double
        /// The clock and the moment when it ended.
        var ended: Double?
        var end: Int?
    }

    struct Key: Hashable, Sendable {
        let url: String
        let partition: String?
        let identity: String
    }

    struct State: Sendable {
        /// Whether calls overlap, so that the clock may move between an answer and its arrival.
        let isConcurrent: Bool
        /// Whether the cache stores each certain response: calls do not overlap, and nothing is evicted.
        let knowsAll: Bool
        var now = 0
        var calls: [Int: Call] = [:]
        /// The calls in flight, by the moments when they began.
        var running: [Int: Int] = [:]
        var exchanges: [Int: [ModelExchange]] = [:]
        var entries: [Key: [ModelEntry]] = [:]
        /// The last exchanges of a key, of concurrent calls.
        var late: [Key: [ModelExchange]] = [:]
        /// The moments until which calls of a key ran. Later than all for a revalidation, whose end is unknown.
        var busy: [Key: Int] = [:]
    }

    let usesUser: Bool
    private let state: Protected<State>

    /// Creates an empty history. If `usesUser`, the user is the identity of a request, instead of all its fields.
    init(usesUser: Bool, isConcurrent: Bool, isRoomy: Bool) {
        self.usesUser = usesUser
        state = Protected(State(isConcurrent: isConcurrent, knowsAll: isRoomy && !isConcurrent))
    }

    func withLock<Output>(_ body: (inout State) -> Output) -> Output { state.withLock { body(&$0) } }

    /// Returns the next moment.
    func tick() -> Int {
        state.withLock {
            $0.now += 1
            return $0.now
        }
    }

    func key(_ request: ModelRequest) -> Key {
        Key(url: request.url, partition: request.partition, identity: request.identity(usesUser))
    }

    func begin(_ request: ModelRequest, at clock: Double) {
        let begin = tick()
        state.withLock {
            $0.calls[request.number] = Call(request: request, begin: begin, requestTime: clock)
            $0.running[request.number] = begin
        }
    }

    /// Records an exchange, and the responses that it stores or updates.
    func record(_ exchange: ModelExchange) {
        state.withLock { state in
            guard let request = state.calls[exchange.call]?.request else { return }
            state.exchanges[exchange.call, default: []].append(exchange)
            let key = key(request)
            // No running call may use responses that were invalidated before it began.
            let oldest = min(state.running.values.min() ?? exchange.begin, exchange.begin)
            let entries = state.entries[key, default: []].filter { $0.invalidatedAt.map { $0 >= oldest } ?? true }
            var new = responses(of: exchange, request, entries)
            if state.isConcurrent {
                // Confirmations that arrived before may still be on the way to the cache.
                let late = state.late[key, default: []].filter { $0.end > exchange.end - 300 }
                for earlier in late {
                    guard let other = state.calls[earlier.call]?.request else { continue }
                    new += responses(of: earlier, other, new)
                }
                state.late[key] = late + (exchange.status == 304 || exchange.method == "HEAD" ? [exchange] : [])
            }
            state.entries[key] = entries + new.filter(\.isStorable)
        }
    }

    private func responses(of exchange: ModelExchange, _ request: ModelRequest, _ entries: [ModelEntry]) -> [ModelEntry]
    {
        guard let status = exchange.status else { return [] }
        let isKept = !request.control.has("no-store") && request.lifetime != .none
        func updates(_ isConfirmed: (ModelEntry) -> Bool) -> [ModelEntry] {
            guard isKept, !exchange.fields.has("no-store") else { return [] }
            var all: [ModelEntry] = []
            for found in entries where isConfirmed(found) {
                // For the request, and for the variant that a strong tag identifies.
                let isStrong = found.fields["etag"]?.hasPrefix("\"") ?? false
                for other in isStrong ? [request, found.request] : [request] {
                    let updated = found.updated(by: exchange, for: other)
                    if !all.contains(where: updated.isSame) { all.append(updated) }
                }
            }
            return all
        }
        switch (exchange.method, status) {
        case ("GET", 304): return updates { $0.isConfirmed(by: exchange.fields) }
        case ("GET", _):
            return [
                ModelEntry(
                    status: status, fields: exchange.fields, version: exchange.version, exchange: exchange,
                    request: request)
            ]
        case ("HEAD", 200):
            return updates { $0.status == 200 && $0.isDescribed(by: exchange.fields, length: $0.body.utf8.count) }
        default: return []
        }
    }
}
