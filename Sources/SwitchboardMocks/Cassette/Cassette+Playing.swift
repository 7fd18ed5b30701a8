import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

extension Cassette {
    /// Returns the entry that answers a request and marks it as used. Returns nil when the request must be recorded.
    func entry(for request: NetworkRequest) throws(NetworkError) -> CassetteEntry? {
        guard mode != .rewrite else { return nil }
        var redactor = redactor
        let live = ComparedRequest(redactor.masked(HAR.Request(request)))
        let candidates = candidates(for: live)
        let repeats = repeats
        let (number, expected) = tape.withLock { tape in
            let expected = tape.next
            guard mode == .strict else { return (tape.use(firstOf: candidates, repeats: repeats), expected) }
            return (candidates.contains(expected) ? tape.use(firstOf: [expected], repeats: false) : nil, expected)
        }
        if let number { return entries[number] }
        guard mode != .recordMissing else { return nil }
        let report = CassetteReport(cassette: self, live: live, isUsed: tape.withLock(\.isUsed))
        let text = Scrubber(redactor).scrubbed(
            mode == .strict ? report.outOfOrder(expected: expected, candidates: candidates) : report.unmatched)
        tape.withLock { $0.note(text) }
        throw NetworkError(.unmatchedRequest, reason: text).noting(request)
    }

    /// Returns the entries that match, exact matches first.
    private func candidates(for live: ComparedRequest) -> [Int] {
        let exact = Comparison(mask: redactor.redaction.mask)
        var loose = exact
        loose.isLoose = true
        func matches(_ comparison: Comparison) -> [Int] {
            entries.indices.filter { matching.matches(live, entries[$0].request, comparison) }
        }
        let first = matches(exact)
        return first + matches(loose).filter { !first.contains($0) }
    }

    /// The differences from the recording, one message each; empty when there are none. Read them when the test is
    /// over.
    ///
    /// Each request that no entry answered is one, with the nearest entries. In the modes ``Mode/replay`` and
    /// ``Mode/strict`` each entry that no request used is one too.
    public var faults: [String] {
        let (faults, isUsed) = tape.withLock { ($0.faults, $0.isUsed) }
        guard mode == .replay || mode == .strict else { return faults }
        return faults
            + entries.indices.filter { !isUsed[$0] }.map { number in
                "cassette \(file.lastPathComponent): nobody asked for entry \(number + 1) of \(entries.count), "
                    + entries[number].request.line
            }
    }
}
