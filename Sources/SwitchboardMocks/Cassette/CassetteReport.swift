import Foundation
import Switchboard
import SwitchboardHAR

/// Explains why no entry answers a request.
struct CassetteReport {
    let cassette: Cassette
    let live: ComparedRequest
    let isUsed: [Bool]

    private var head: String { "cassette \(cassette.file.lastPathComponent): no entry answers \(live.line)" }
    private static let howToRecord = "  to record what is missing: SWITCHBOARD_CASSETTES=record swift test"

    /// The nearest entries with their differences.
    var unmatched: String {
        let comparison = Comparison(mask: cassette.redactor.redaction.mask, isLoose: true)
        let nearest = cassette.entries.indices
            .map { ($0, cassette.matching.differences(live, cassette.entries[$0].request, comparison)) }
            .sorted { ($0.1.count, $0.0) < ($1.1.count, $1.0) }.prefix(3)
        let lines = nearest.flatMap { number, differences in
            differences.isEmpty ? [line(number) + ": used up"] : [line(number) + ":"] + indented(differences)
        }
        return ([head] + (lines.isEmpty ? ["  it has no entries"] : lines) + [Self.howToRecord])
            .joined(separator: "\n")
    }

    /// Returns the expected entry, and the differences between it and the request.
    func outOfOrder(expected: Int, candidates: [Int]) -> String {
        guard expected < cassette.entries.count else {
            return [head, "  all \(cassette.entries.count) entries are used up", Self.howToRecord]
                .joined(separator: "\n")
        }
        guard let candidate = candidates.first(where: { !isUsed[$0] }) else {
            let differences = cassette.matching.differences(
                live, cassette.entries[expected].request,
                Comparison(mask: cassette.redactor.redaction.mask, isLoose: true))
            return
                ([head, "  next is \(line(expected).drop { $0 == " " }):"] + indented(differences)
                + [Self.howToRecord]).joined(separator: "\n")
        }
        return """
            cassette \(cassette.file.lastPathComponent): entry \(candidate + 1) was asked for out of order, \(live.line)
              next is \(line(expected).drop { $0 == " " })
            """
    }

    private func line(_ number: Int) -> String {
        "  entry \(number + 1), \(cassette.entries[number].request.line)"
    }

    private func indented(_ differences: [String]) -> [String] {
        let more = differences.count - 5
        return (differences.prefix(5) + (more > 0 ? ["and \(more) more"] : [])).map { "    " + $0 }
    }
}
