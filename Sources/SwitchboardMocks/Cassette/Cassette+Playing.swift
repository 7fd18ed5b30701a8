import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

extension Cassette {
    /// Returns the entry that answers a request and marks it as used. Returns nil when the request must be recorded.
    func entry(for request: NetworkRequest) throws(NetworkError) -> HAR.Entry? {
        guard mode != .rewrite else { return nil }
        var masking = ExchangeMasking(request.redaction(extending: masking.redaction))
        let live = ComparedRequest(masking.masked(HAR.Request(request)))
        let index = mode == .strict ? useNext(live) : useEntry(for: live)
        if let index { return entries[index].entry }
        guard mode != .recordMissing else { return nil }
        let text = masking.storedSecrets.masked(
            mode == .strict ? outOfOrder(live, expected: tape.withLock(\.next)) : unmatched(live))
        tape.withLock { $0.record(text) }
        throw NetworkError(.unmatchedRequest, reason: text).adding(request)
    }

    /// Uses the first entry that matches and has not answered yet, exact matches first. Where entries repeat, the last
    /// exact match answers again before one that matches by its mask. Returns the entry's index.
    private func useEntry(for live: ComparedRequest) -> Int? {
        for (indices, isLoose) in [(indicesByKey[matching.key(of: live)] ?? [], false), (maskedIndices, true)] {
            if let index = use(firstOf: indices, live, isLoose: isLoose) { return index }
            if repeats, let index = indices.last(where: { matches(live, $0, isLoose: isLoose) }) { return index }
        }
        return nil
    }

    /// Uses the next entry if it matches. Of equal requests that are sent at once, each uses one.
    private func useNext(_ live: ComparedRequest) -> Int? {
        while true {
            let next = tape.withLock(\.next)
            if let index = use(firstOf: [next], live, isLoose: true) { return index }
            if tape.withLock(\.next) == next { return nil }
        }
    }

    private func use(firstOf indices: [Int], _ live: ComparedRequest, isLoose: Bool) -> Int? {
        indices.first { index in
            isUnused(index) && matches(live, index, isLoose: isLoose) && tape.withLock { $0.use(index) }
        }
    }

    private func isUnused(_ index: Int) -> Bool {
        entries.indices.contains(index) && tape.withLock { !$0.isUsed[index] }
    }

    private func matches(_ live: ComparedRequest, _ index: Int, isLoose: Bool) -> Bool {
        let comparison = Comparison(mask: masking.redaction.mask, isLoose: isLoose)
        return matching.matches(live, entries[index].request, comparison)
    }

    /// One message per difference from the recording, empty when there are none. Read it after the test.
    ///
    /// A request that no entry answered is a difference, with the nearest entries. So is an answer that breaks a
    /// contract. In the modes ``Mode/replay`` and ``Mode/strict``, an entry that no request used is one too, and a
    /// recorded message that a WebSocket did not send.
    public var faults: [String] { mismatches + unusedEntries }

    /// The faults without unused entries.
    package var mismatches: [String] {
        tape.withLock { $0.faults + (expectsAll ? $0.unsentMessages : []) } + contracts.faults
    }

    /// The faults without unused entries and unsent messages.
    var differences: [String] { tape.withLock(\.faults) + contracts.faults }

    private var expectsAll: Bool { mode == .replay || mode == .strict }

    private var unusedEntries: [String] {
        guard expectsAll else { return [] }
        let isUsed = tape.withLock(\.isUsed)
        return entries.indices.filter { !isUsed[$0] }.map { index in
            "cassette \(file.lastPathComponent): nobody requested entry \(index + 1) of \(entries.count), "
                + entries[index].request.line
        }
    }
}

extension Cassette {
    /// Plays an entry: returns its response, or throws the error that a real session throws for it.
    func play(_ entry: HAR.Entry, for request: NetworkRequest) async throws -> NetworkResponse {
        let recorded = entry.response
        if let upgrade = request.options.upgrade, recorded.status == 101 {
            return try playMessages(of: entry, upgrade, request)
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
}

// MARK: - The reason why no entry answers a request

extension Cassette {
    private var advice: String { "  to record what is missing: \(howToRecord)" }

    /// Returns the nearest entries with their differences.
    private func unmatched(_ live: ComparedRequest) -> String {
        let nearest = entries.indices.map { ($0, differences(live, entries[$0].request)) }
            .sorted { ($0.1.count, $0.0) < ($1.1.count, $1.0) }.prefix(3)
        let lines = nearest.flatMap { index, differences in
            differences.isEmpty ? [line(index) + ": used up"] : [line(index) + ":"] + indented(differences)
        }
        return ([title(live)] + (lines.isEmpty ? ["  it has no entries"] : lines) + [advice])
            .joined(separator: "\n")
    }

    /// Returns the expected entry, and the differences between it and the request.
    private func outOfOrder(_ live: ComparedRequest, expected: Int) -> String {
        guard expected < entries.count else {
            return [title(live), "  all \(entries.count) entries are used up", advice].joined(separator: "\n")
        }
        let next = "  next is \(line(expected).drop { $0 == " " })"
        func unused(isLoose: Bool) -> Int? {
            entries.indices.first { isUnused($0) && matches(live, $0, isLoose: isLoose) }
        }
        guard let candidate = unused(isLoose: false) ?? unused(isLoose: true) else {
            let differences = differences(live, entries[expected].request)
            return ([title(live), next + ":"] + indented(differences) + [advice]).joined(separator: "\n")
        }
        return """
            cassette \(file.lastPathComponent): entry \(candidate + 1) was asked for out of order, \(live.line)
            \(next)
            """
    }

    private func differences(_ live: ComparedRequest, _ recorded: ComparedRequest) -> [String] {
        matching.differences(live, recorded, Comparison(mask: masking.redaction.mask, isLoose: true))
    }

    private func title(_ live: ComparedRequest) -> String {
        "cassette \(file.lastPathComponent): no entry answers \(live.line)"
    }

    private func line(_ index: Int) -> String {
        "  entry \(index + 1), \(entries[index].request.line)"
    }

    private func indented(_ differences: [String]) -> [String] {
        let more = differences.count - 5
        return (differences.prefix(5) + (more > 0 ? ["and \(more) more"] : [])).map { "    " + $0 }
    }
}
