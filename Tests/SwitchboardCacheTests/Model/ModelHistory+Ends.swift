import Foundation
import SwitchboardCache

extension ModelHistory {
    /// Ends a call: judges its answer, and records which stored responses it replaced or invalidated.
    ///
    /// - Returns: The fault of the answer, and the stored response that should have answered.
    func end(_ request: ModelRequest, _ answer: ModelAnswer, at clock: Double) -> (fault: String?, missed: String?) {
        let end = tick()
        return withLock { state in
            state.calls[request.number]?.ended = clock
            state.calls[request.number]?.end = end
            guard let call = state.calls[request.number] else { return ("the call is unknown", nil) }
            let span = ModelSpan(begin: call.begin, end: end, asked: call.asked, ended: clock)
            let held = state.entries[key(request), default: []]
            let found = (
                state.fault(of: answer, to: request, span, held), state.missedChance(answer, request, span, held)
            )
            state.running[request.number] = nil
            let wasAlone = state.isAlone(call, key(request), self)
            state.busy[key(request)] = max(state.busy[key(request)] ?? 0, answer.isRevalidating ? .max : end)
            // A revalidation in the background is not over.
            if !answer.isRevalidating { settle(&state, request, answer.serial, begin: call.begin, end, wasAlone) }
            return found
        }
    }

    /// Ends the revalidation that a call left in the background.
    func endRevalidation(of request: ModelRequest) {
        let end = tick()
        withLock { state in
            // Its exchange ended after the call.
            state.calls[request.number]?.end = end
            let last = state.exchanges[request.number]?.last
            // A cache may store the failure.
            let key = key(request)
            for index in state.entries[key, default: []].indices where last?.isFailure ?? false {
                state.entries[key]?[index].isCertain = false
            }
            settle(&state, request, last.map { $0.isFailure ? nil : $0.serial } ?? nil, begin: end, end, true)
        }
    }

    private func settle(
        _ state: inout State, _ request: ModelRequest, _ serial: Int?, begin: Int, _ end: Int, _ wasAlone: Bool
    ) {
        guard let last = state.exchanges[request.number]?.last, let status = last.status else { return }
        guard request.isSafe else {
            if (200..<400).contains(status) { invalidate(&state, request, last, end) }
            return
        }
        // A stale response took the place of the failure.
        guard request.isCached, last.serial == serial, wasAlone else { return }
        let key = key(request)
        var held = state.entries[key, default: []]
        if last.method == "HEAD" {
            let stored = settled(held, state, begin)
            describe(&held, request, last, status, stored, end)
        } else {
            let stored = settled(held, state, begin)
            let clock = max(last.arrived, state.calls[request.number]?.ended ?? last.arrived)
            replace(&held, request, last, status, begin, end, stored, clock)
        }
        state.entries[key] = held
    }

    /// Returns the indices of the responses whose calls had ended before.
    private func settled(_ held: [ModelEntry], _ state: State, _ begin: Int) -> [Int] {
        held.indices.filter { index in
            guard let end = state.calls[held[index].exchange.call]?.end else { return false }
            return end < begin && held[index].exchange.end < end
        }
    }

    private func isOlder(_ entry: ModelEntry, than last: ModelExchange, _ begin: Int) -> Bool {
        entry.serial != last.serial && entry.exchange.begin < begin
    }

    private func replace(
        _ held: inout [ModelEntry], _ request: ModelRequest, _ last: ModelExchange, _ status: Int, _ begin: Int,
        _ end: Int, _ stored: [Int], _ clock: Double
    ) {
        let own = held.indices.filter {
            held[$0].serial == last.serial && held[$0].request.number == request.number
                && held[$0].version == last.version
        }
        // A temporary failure changes nothing.
        let isUnstored = status == 304 && request.control.has("no-store") && !last.fields.has("no-store")
        let isPassing = request.lifetime == .none || status >= 500 || isUnstored
        // The answer reached the cache between its arrival and the end of the call. It may have become stale meanwhile.
        let isOfUse = !own.isEmpty && held[own[0]].isOfUse(at: last.arrived)
        let isStored = !own.isEmpty && (status == 304 || held[own[0]].isOfUse(at: clock))
        let mayBeOfUse = own.contains { held[$0].mayBeOfUse }
        // A 304 may be about several that differ, of which the cache holds one.
        for index in own where isStored { held[index].isCertain = own.count == 1 }
        for index in held.indices where isOlder(held[index], than: last, begin) && held[index].matches(request) {
            if isStored {
                let isNewer = held[index].made > held[own[0]].made
                if isNewer { held[index].isCertain = false } else { held[index].gone = held[index].gone ?? end }
            } else if isOfUse || !isPassing || mayBeOfUse {
                held[index].isCertain = false
            }
        }
        // A cache may let a response without Vary replace all others, whatever their dates.
        if isStored || mayBeOfUse, held[own[0]].fields.members("vary").isEmpty {
            for index in held.indices where held[index].serial != last.serial { held[index].isCertain = false }
        }
        guard status == 304, isStored else { return }
        // A strong tag is that of all responses that have it (RFC 9111 §4.3.4).
        let tag = held[own[0]].fields["etag"] ?? "W/"
        for index in stored where held[index].serial != last.serial && held[index].fields["etag"] == tag {
            held[index].isCertain = false
            // The variant under a new Vary is not known.
            let isSameVary = held[index].fields.members("vary") == held[own[0]].fields.members("vary")
            if !tag.hasPrefix("W/"), isSameVary { held[index].gone = held[index].gone ?? end }
        }
    }

    private func describe(
        _ held: inout [ModelEntry], _ request: ModelRequest, _ last: ModelExchange, _ status: Int, _ stored: [Int],
        _ end: Int
    ) {
        guard status == 200 else { return }
        for index in stored where held[index].serial != last.serial && held[index].matches(request) {
            held[index].isCertain = false
            let entry = held[index]
            if entry.status == 200, !entry.isDescribed(by: last.fields, length: entry.body.utf8.count) {
                held[index].gone = entry.gone ?? end
            }
        }
    }

    /// Invalidates what an unsafe request changed (RFC 9111 §4.4).
    private func invalidate(_ state: inout State, _ request: ModelRequest, _ last: ModelExchange, _ end: Int) {
        let origin = request.place.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//")
        let others = (last.fields.members("location") + last.fields.members("content-location")).map {
            $0.hasPrefix("//") ? "https:\($0)" : $0.hasPrefix("/") ? origin + $0 : $0
        }
        let places = [request.place] + others.filter { $0.hasPrefix(origin + "/") }
        func path(_ place: String) -> Substring { place.prefix { $0 != "?" } }
        for key in state.entries.keys
        where key.partition == request.partition && places.contains(where: { path($0) == path(key.place) }) {
            guard var held = state.entries[key] else { continue }
            for index in held.indices {
                held[index].isCertain = false
                if places.contains(key.place), held[index].exchange.end < last.begin {
                    held[index].gone = held[index].gone ?? end
                }
            }
            state.entries[key] = held
        }
    }
}

extension ModelHistory.State {
    /// Returns whether no other call of the key ran at the same time. Of several, any may be the one that stores its response.
    fileprivate func isAlone(_ call: ModelHistory.Call, _ key: ModelHistory.Key, _ history: ModelHistory) -> Bool {
        guard isConcurrent else { return true }
        return busy[key, default: 0] < call.begin
            && !running.keys.contains { calls[$0].map { history.key($0.request) == key } ?? false }
    }
}
