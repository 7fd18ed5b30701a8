import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

extension Cassette {
    /// Returns the entry that answers a request and marks it as used. Returns nil when the request must be recorded.
    func entry(for request: NetworkRequest) throws(NetworkError) -> CassetteEntry? {
        guard mode != .rewrite else { return nil }
        var masking = ExchangeMasking(request.redaction(extending: masking.redaction))
        let live = ComparedRequest(masking.masked(HAR.Request(request)))
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
        let text = masking.storedSecrets.masked(
            mode == .strict ? report.outOfOrder(expected: expected, candidates: candidates) : report.unmatched)
        tape.withLock { $0.record(text) }
        throw NetworkError(.unmatchedRequest, reason: text).adding(request)
    }

    /// Returns the entries that match, exact matches first.
    private func candidates(for live: ComparedRequest) -> [Int] {
        let exact = Comparison(mask: masking.redaction.mask)
        var loose = exact
        loose.isLoose = true
        func matches(_ comparison: Comparison) -> [Int] {
            entries.indices.filter { matching.matches(live, entries[$0].request, comparison) }
        }
        let first = matches(exact)
        return first + matches(loose).filter { !first.contains($0) }
    }

    /// One message per difference from the recording, empty when there are none. Read it after the test.
    ///
    /// A request that no entry answered is a difference, with the nearest entries. So is an answer that breaks a
    /// contract. In the modes ``Mode/replay`` and ``Mode/strict``, an entry that no request used is one too.
    public var faults: [String] { mismatches + unusedEntries }

    /// The faults without unused entries.
    package var mismatches: [String] { tape.withLock(\.faults) + contracts.faults }

    private var unusedEntries: [String] {
        guard mode == .replay || mode == .strict else { return [] }
        let isUsed = tape.withLock(\.isUsed)
        return entries.indices.filter { !isUsed[$0] }.map { number in
            "cassette \(file.lastPathComponent): nobody asked for entry \(number + 1) of \(entries.count), "
                + entries[number].request.line
        }
    }
}

/// One answer of a ``Cassette`` from its file: a response, or the error that a real session throws for it.
struct CassettePlayback {
    let request: NetworkRequest
    let entry: HAR.Entry
    let masking: ExchangeMasking
    let tape: Protected<CassetteTape>

    func run() async throws -> NetworkResponse {
        let recorded = entry.response
        if let upgrade = request.options.upgrade, recorded.status == 101 {
            return try upgraded(upgrade, entry.webSocketMessages ?? [])
        }
        var response = MockResponse(
            statusCode: recorded.status, headers: HTTPHeaders(recorded.headers), body: recorded.content.data)
        response.trailers = HTTPHeaders(recorded.trailers ?? [])
        // No client needs the content of a redirect, and some browsers do not store it.
        let needsContent = response.allowsBody(to: request.method) && !(300..<400).contains(recorded.status)
        guard !(needsContent && recorded.content.isMissing) else {
            let reason = "the cassette's entry for it has no content: export the archive with content"
            throw NetworkError(.cassetteFault, reason: reason).adding(request)
        }
        var exchange = StubExchange(request, response, clock: ContinuousClock())
        if recorded.httpVersion.hasPrefix("HTTP/") { exchange.metrics.protocolVersion = recorded.httpVersion }
        return try await exchange.run()
    }

    /// Returns the error of a difference from the recording, and adds it to the faults.
    func fault(_ text: String) -> NetworkError {
        let text = masking.storedSecrets.masked("cassette: " + text)
        tape.withLock { $0.record(text) }
        return NetworkError(.unmatchedRequest, reason: text).adding(request)
    }
}

/// An entry of the file, with its request prepared for comparison.
struct CassetteEntry: Sendable {
    let entry: HAR.Entry
    let request: ComparedRequest

    init(_ entry: HAR.Entry, _ masking: ExchangeMasking) {
        var masking = masking
        self.entry = entry
        request = ComparedRequest(masking.masked(entry.request))
    }
}

/// Explains why no entry answers a request.
struct CassetteReport {
    let cassette: Cassette
    let live: ComparedRequest
    let isUsed: [Bool]

    private var head: String { "cassette \(cassette.file.lastPathComponent): no entry answers \(live.line)" }
    private static let howToRecord = "  to record what is missing: SWITCHBOARD_CASSETTES=record swift test"

    /// The nearest entries with their differences.
    var unmatched: String {
        let comparison = Comparison(mask: cassette.masking.redaction.mask, isLoose: true)
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
                Comparison(mask: cassette.masking.redaction.mask, isLoose: true))
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
