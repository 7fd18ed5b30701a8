import SwitchboardPlatform
import Foundation
import Switchboard

/// Keeps the last exchanges as an HTTP archive, secrets replaced: for a bug report, or the network panel of a browser.
///
/// ```swift
/// let recorder = HARRecorder()
/// let manager = NetworkManager(options: RequestOptions { $0.monitors.append(recorder) })
/// …
/// try recorder.write(to: file)
/// ```
///
/// The format is [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/). Every exchange of a call is one entry, retries
/// and redirects too; one without a response has status 0 and the error's code in `_error`. Secrets are found by their
/// names, and then wherever else they stand in the archive.
public final class HARRecorder: EventMonitor {
    /// How many exchanges are kept: the last ones. Default 200.
    public let maximumEntries: Int
    /// How many bytes of each body are kept; of a longer one there is its size alone. Default 64 KiB.
    public let maximumBodySize: Int
    private let redaction: Redaction
    private let state = Protected(State())

    private struct State {
        /// Masked by names, and the secrets found on the way, to be looked for in the whole archive.
        var entries: [(entry: HAR.Entry, secrets: Set<String>)] = []
        /// Where the next one goes once the list is full.
        var oldest = 0
    }

    /// Makes a recorder. Secrets are kept in memory as long as their exchange, to be found where no name tells them.
    public init(maximumEntries: Int = 200, maximumBodySize: Int = 64 << 10, redaction: Redaction = .standard) {
        self.maximumEntries = max(1, maximumEntries)
        self.maximumBodySize = max(0, maximumBodySize)
        self.redaction = redaction
    }

    /// Keeps the exchanges among the events.
    public func record(_ event: CallEvent) {
        guard case .exchanged(let metrics, let response) = event.kind else { return }
        var redactor = HARRedactor(metrics.request.redaction(over: redaction))
        let masked = redactor.masked(entry(metrics, response))
        let kept = (masked, redactor.secrets)
        state.withLock { state in
            if state.entries.count < maximumEntries {
                state.entries.append(kept)
            } else {
                state.entries[state.oldest] = kept
                state.oldest = (state.oldest + 1) % maximumEntries
            }
        }
    }

    /// How many exchanges are kept at the moment.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Forgets all exchanges.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    /// The archive as JSON, oldest exchange first.
    public var data: Data {
        get throws {
            let kept = state.withLock { state in
                Array(state.entries[state.oldest...] + state.entries[..<state.oldest])
            }
            var redactor = HARRedactor(redaction)
            for secret in kept.reduce(into: Set(), { $0.formUnion($1.secrets) }) { redactor.note(secret) }
            let scrubber = Scrubber(redactor)
            return try HAR(log: HAR.Log(entries: kept.map { scrubber.scrubbed($0.entry) })).data
        }
    }

    /// Writes the archive to a file that its owner alone can read, in one step.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`.
    public func write(to file: URL) throws(NetworkError) {
        do {
            try PrivateFile.write(data, to: file)
        } catch {
            throw NetworkError(
                .cannotWriteFile, reason: "\(file.path): \(error.localizedDescription)", underlying: error)
        }
    }

    // MARK: An entry

    private func entry(_ metrics: ExchangeRecord, _ response: NetworkResponse?) -> HAR.Entry {
        var request = metrics.request
        let sent = body(of: request)
        request.body = DataBody(sent.data ?? Data(), additionalHeaders: request.body.additionalHeaders)
        var recorded = HAR.Request(request)
        recorded.bodySize = sent.size
        var answer = response ?? NetworkResponse(status: 0)
        let body = answer.body.count <= maximumBodySize ? answer.body : Data()
        let size = answer.body.count
        answer.body = body
        let start = Date(timeIntervalSinceNow: -metrics.duration.seconds)
        var entry = HAR.Entry(recorded, answer, body: body, start: start, elapsed: metrics.duration)
        entry.response.content.size = size
        if !answer.headers.contains("Content-Encoding") { entry.response.bodySize = size }
        if response == nil { entry.response.error = metrics.outcome.description }
        return entry
    }

    /// What was sent, as far as it is kept, and its length; -1 for one that is not known.
    private func body(of request: NetworkRequest) -> (data: Data?, size: Int) {
        guard !request.body.isEmpty else { return (nil, 0) }
        let size = request.body.length.map { Int(clamping: $0) } ?? -1
        guard !request.body.isStreamed, size <= maximumBodySize, let data = try? request.body.encode() else {
            return (nil, size)
        }
        return (data.count <= maximumBodySize ? data : nil, data.count)
    }
}
