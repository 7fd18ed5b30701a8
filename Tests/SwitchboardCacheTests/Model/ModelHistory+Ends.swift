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
            let span = ModelSpan(begin: call.begin, end: end, requestTime: call.requestTime, ended: clock)
            let entries = state.entries[key(request), default: []]
            let found = (
                state.fault(of: answer, to: request, span, entries), state.missedHit(answer, request, span, entries)
            )
            state.running[request.number] = nil
            let wasAlone = state.isAlone(call, key(request), self)
            state.busy[key(request)] = max(state.busy[key(request)] ?? 0, answer.isRevalidating ? .max : end)
            // A revalidation in the background is not over.
            if !answer.isRevalidating { applyCall(&state, request, answer.serial, begin: call.begin, end, wasAlone) }
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
            applyCall(&state, request, last.map { $0.isFailure ? nil : $0.serial } ?? nil, begin: end, end, true)
        }
    }

    private func applyCall(
        _ state: inout State, _ request: ModelRequest, _ serial: Int?, begin: Int, _ end: Int, _ wasAlone: Bool
    ) {
        guard let last = state.exchanges[request.number]?.last, let status = last.status else { return }
        guard request.isSafe else {
            if (200..<400).contains(status) { invalidate(&state, request, last, end) }
            return
        }
        // A stale response replaced the failure.
        guard request.isCached, last.serial == serial, wasAlone else { return }
        let key = key(request)
        var entries = state.entries[key, default: []]
        if last.method == "HEAD" {
            let stored = endedBefore(entries, state, begin)
            applyHead(&entries, request, last, status, stored, end)
        } else {
            let stored = endedBefore(entries, state, begin)
            let clock = max(last.arrived, state.calls[request.number]?.ended ?? last.arrived)
            replace(&entries, request, last, status, begin, end, stored, clock)
        }
        state.entries[key] = entries
    }

    /// Returns the indices of the responses whose calls had ended before.
    private func endedBefore(_ entries: [ModelEntry], _ state: State, _ begin: Int) -> [Int] {
        entries.indices.filter { index in
            guard let end = state.calls[entries[index].exchange.call]?.end else { return false }
            return end < begin && entries[index].exchange.end < end
        }
    }

    private func isOlder(_ entry: ModelEntry, than last: ModelExchange, _ begin: Int) -> Bool {
        entry.serial != last.serial && entry.exchange.begin < begin
    }

    private func replace(
        _ entries: inout [ModelEntry], _ request: ModelRequest, _ last: ModelExchange, _ status: Int, _ begin: Int,
        _ end: Int, _ stored: [Int], _ clock: Double
    ) {
        let own = entries.indices.filter {
            entries[$0].serial == last.serial && entries[$0].request.number == request.number
                && entries[$0].version == last.version
        }
        // A temporary failure changes nothing.
        let isUnstored = status == 304 && request.control.has("no-store") && !last.fields.has("no-store")
        let isPassing = request.lifetime == .none || status >= 500 || isUnstored
        // The answer reached the cache between its arrival and the end of the call. It may have become stale meanwhile.
        let isUseful = !own.isEmpty && entries[own[0]].isUseful(at: last.arrived)
        let isStored = !own.isEmpty && (status == 304 || entries[own[0]].isUseful(at: clock))
        let mayBeUseful = own.contains { entries[$0].mayBeUseful }
        // A 304 may confirm several entries, of which the cache stores one.
        for index in own where isStored { entries[index].isCertain = own.count == 1 }
        for index in entries.indices where isOlder(entries[index], than: last, begin) && entries[index].matches(request)
        {
            if isStored {
                let isNewer = entries[index].dateValue > entries[own[0]].dateValue
                if isNewer {
                    entries[index].isCertain = false
                } else {
                    entries[index].invalidatedAt = entries[index].invalidatedAt ?? end
                }
            } else if isUseful || !isPassing || mayBeUseful {
                entries[index].isCertain = false
            }
        }
        // A cache may let a response without Vary replace all others, whatever their dates.
        if isStored || mayBeUseful, entries[own[0]].fields.members("vary").isEmpty {
            for index in entries.indices where entries[index].serial != last.serial { entries[index].isCertain = false }
        }
        guard status == 304, isStored else { return }
        // A strong tag identifies all responses that have it (RFC 9111 §4.3.4).
        let tag = entries[own[0]].fields["etag"] ?? "W/"
        for index in stored where entries[index].serial != last.serial && entries[index].fields["etag"] == tag {
            entries[index].isCertain = false
            // The variant under a new Vary is not known.
            let isSameVary = entries[index].fields.members("vary") == entries[own[0]].fields.members("vary")
            if !tag.hasPrefix("W/"), isSameVary { entries[index].invalidatedAt = entries[index].invalidatedAt ?? end }
        }
    }

    private func applyHead(
        _ entries: inout [ModelEntry], _ request: ModelRequest, _ last: ModelExchange, _ status: Int, _ stored: [Int],
        _ end: Int
    ) {
        guard status == 200 else { return }
        for index in stored where entries[index].serial != last.serial && entries[index].matches(request) {
            entries[index].isCertain = false
            let entry = entries[index]
            if entry.status == 200, !entry.isDescribed(by: last.fields, length: entry.body.utf8.count) {
                entries[index].invalidatedAt = entry.invalidatedAt ?? end
            }
        }
    }

    /// Invalidates what an unsafe request changed (RFC 9111 §4.4).
    private func invalidate(_ state: inout State, _ request: ModelRequest, _ last: ModelExchange, _ end: Int) {
        let origin = request.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//")
        let others = (last.fields.members("location") + last.fields.members("content-location")).map {
            $0.hasPrefix("//") ? "https:\($0)" : $0.hasPrefix("/") ? origin + $0 : $0
        }
        let urls = [request.url] + others.filter { $0.hasPrefix(origin + "/") }
        func path(_ url: String) -> Substring { url.prefix { $0 != "?" } }
        for key in state.entries.keys
        where key.partition == request.partition && urls.contains(where: { path($0) == path(key.url) }) {
            guard var entries = state.entries[key] else { continue }
            for index in entries.indices {
                entries[index].isCertain = false
                if urls.contains(key.url), entries[index].exchange.end < last.begin {
                    entries[index].invalidatedAt = entries[index].invalidatedAt ?? end
                }
            }
            state.entries[key] = entries
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
