import Foundation
import Switchboard
import SwitchboardCache

/// The moments and times between which a call ran.
struct ModelSpan: Sendable {
    let begin: Int
    let end: Int
    let requestTime: Double
    let ended: Double
}

extension ModelHistory.State {
    /// Returns the fault of an answer. Nil when the RFCs allow it in some state that the cache may have had.
    func fault(of answer: ModelAnswer, to request: ModelRequest, _ span: ModelSpan, _ entries: [ModelEntry]) -> String?
    {
        let all = exchanges[request.number, default: []]
        let direct = answer.isRevalidating ? [] : all
        if request.isOffline, !direct.isEmpty { return "it was sent, although the request was cache-only" }
        if let code = answer.error {
            if code == .notCached { return request.isOffline ? nil : "the request was not cache-only" }
            return direct.last.map { $0.status == nil } ?? false ? nil : "the origin did not fail"
        }
        guard let status = answer.status, let serial = answer.serial else { return "the answer has no serial" }
        if request.method == "HEAD", !answer.body.isEmpty { return "the answer to a HEAD has a body" }
        if let last = direct.last, last.serial == serial {
            return last.status == 304
                ? fault(ofValidated: answer, status, by: last, request, span, entries)
                : fault(ofSent: answer, status, by: last, request)
        }
        if let last = direct.last, !last.isFailure { return "the answer is not the origin's last" }
        return fault(ofStored: answer, status, serial, request, span, entries, isFailed: !direct.isEmpty)
    }

    private func fault(
        ofSent answer: ModelAnswer, _ status: Int, by last: ModelExchange, _ request: ModelRequest
    ) -> String? {
        if status != last.status { return "the origin's status was another" }
        if request.method != "HEAD", answer.body != "\(last.version) for \(request.fields["X-User"] ?? "")" {
            return "the origin's body was another"
        }
        if answer.age != last.fields["age"] { return "the origin's Age was another" }
        return answer.isMiss == request.isCached && (answer.outcome == nil) != request.isCached
            ? nil : "the outcome is not a miss"
    }

    private func fault(
        ofValidated answer: ModelAnswer, _ status: Int, by last: ModelExchange, _ request: ModelRequest,
        _ span: ModelSpan, _ entries: [ModelEntry]
    ) -> String? {
        guard answer.isValidated else { return "the outcome is not a validation" }
        guard answer.body == "\(last.version) for \(request.fields["X-User"] ?? "")" else {
            return "the origin confirmed another version"
        }
        // The body shows that it was stored. Overlapping calls may have changed its other fields.
        if isConcurrent { return nil }
        let confirmed = entries.filter {
            $0.isUsable(in: span) && $0.version == last.version && $0.isConfirmed(by: last.fields)
        }
        guard confirmed.contains(where: { $0.status == status }) else { return "no such response was stored" }
        let updated = confirmed.map { $0.updated(by: last, for: request) }
        return updated.contains { $0.hasAge(answer.age, in: span, slack($0)) } ? nil : "the Age is wrong"
    }

    private func fault(
        ofStored answer: ModelAnswer, _ status: Int, _ serial: Int, _ request: ModelRequest, _ span: ModelSpan,
        _ entries: [ModelEntry], isFailed: Bool
    ) -> String? {
        guard let outcome = answer.outcome else { return "a stored response has no outcome" }
        var fits = entries.filter {
            $0.serial == serial && $0.status == status && (request.method == "HEAD" || $0.body == answer.body)
        }
        // Overlapping calls may update any response that a 304 or a HEAD confirms.
        if isConcurrent, fits.isEmpty,
            exchanges.values.joined().contains(where: {
                $0.serial == serial && ($0.status == 304 || $0.method == "HEAD")
            })
        {
            return nil
        }
        /// Filters the candidates. Returns the fault when none is left.
        func lack(_ fault: String, _ isRight: (ModelEntry) -> Bool) -> String? {
            fits = fits.filter(isRight)
            return fits.isEmpty ? fault : nil
        }
        return lack("no such response may be stored") { $0.exchange.end < span.end }
            ?? lack("it was replaced or invalidated before") { $0.isUsable(in: span) }
            ?? lack("it is for other values of its Vary") { $0.matches(request) }
            ?? lack("its state does not allow \(outcome)") { entry in
                let late = isConcurrent ? lateness(entry, span) : 0
                let (first, last) = (span.requestTime - late, span.ended + slack(entry) + late)
                // The lifetime may end meanwhile, and a short window of staleness too.
                let turn = min(max(first, first + entry.freshness(for: request, at: first)), last)
                return [first, turn, min(turn + 0.001, last), span.requestTime, last].contains {
                    entry.allows(outcome, request, at: $0, isFailed: isFailed)
                }
            }
            ?? lack("a more recent one was stored") { entry in
                !knowsAll
                    || !entries.contains {
                        $0.isCertain && $0.isUsable(in: span) && $0.matches(request) && $0.dateValue > entry.dateValue
                    }
            }
            ?? lack("its Age is wrong") { $0.hasAge(answer.age, in: span, slack($0)) }
    }

    /// Returns the longest time in seconds that the exchange may have waited in the cache before it was sent. It counts for its age.
    private func slack(_ entry: ModelEntry) -> Double {
        calls[entry.exchange.call].map { entry.exchange.sent - $0.requestTime } ?? 0
    }

    /// Returns the longest time in seconds between the origin's answer and its arrival in the cache.
    private func lateness(_ entry: ModelEntry, _ span: ModelSpan) -> Double {
        let ended = calls[entry.exchange.call]?.ended ?? span.ended
        // A revalidation in the background arrives after its call.
        return max(0, (ended < entry.exchange.arrived ? span.ended : ended) - entry.exchange.arrived)
    }

    /// Returns the reason why a stored response should have answered a request that was sent. Nil when none should.
    func missedHit(_ answer: ModelAnswer, _ request: ModelRequest, _ span: ModelSpan, _ entries: [ModelEntry])
        -> String?
    {
        let sent = exchanges[request.number, default: []]
        let isRefused = answer.error == .notCached
        guard request.isCached, isRefused || !answer.isRevalidating && !sent.isEmpty else { return nil }
        let control = request.control
        guard control.seconds("max-age") != 0 else { return nil }
        let fits = entries.filter { $0.isUsable(in: span) && $0.matches(request) }
        // With several, the most recent counts. The model does not guess which that is when one of them is uncertain.
        guard let best = fits.max(by: { $0.dateValue < $1.dateValue }), fits.allSatisfy(\.isCertain),
            fits.allSatisfy({ $0.serial == best.serial || $0.dateValue < best.dateValue })
        else { return nil }
        var wanted: [ResponseCache.Outcome] = [.hit, .stale(.requested), .stale(.whileRevalidating)]
        let isFailed = sent.last?.isFailure ?? false
        if answer.outcome == .stale(.serverFailed) {
            wanted.removeLast()
        } else if isFailed {
            wanted.append(.stale(.serverFailed))
        }
        for outcome in wanted {
            let isAtEnd = outcome == .stale(.serverFailed)
            let now = isAtEnd ? span.ended : span.requestTime
            // A 304 may have updated one of several.
            let same = fits.filter { $0.serial == best.serial }
            if same.allSatisfy({ $0.allows(outcome, request, at: now, isFailed: isAtEnd) }) {
                return "\(best.serial) allowed \(outcome)"
            }
        }
        return nil
    }
}

extension ModelEntry {
    /// Returns whether it may still be stored at a moment of a call.
    func isUsable(in span: ModelSpan) -> Bool {
        exchange.end < span.end && invalidatedAt.map { $0 >= span.begin } ?? true
    }

    fileprivate func hasAge(_ text: String?, in span: ModelSpan, _ slack: Double) -> Bool {
        guard let ageValue = text.flatMap({ Int($0) }) else { return false }
        return (Int(age(at: max(span.requestTime, exchange.arrived)))...Int(age(at: span.ended) + slack)).contains(
            ageValue)
    }
}
