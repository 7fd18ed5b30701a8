import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

/// Records the last exchanges as an HTTP archive with their secrets replaced, for a bug report or a browser's network
/// panel.
///
/// ```swift
/// let recorder = HARRecorder()
/// let manager = NetworkManager(monitors: [recorder])
/// ...
/// try recorder.write(to: file)
/// ```
///
/// The format is [HAR 1.2](http://www.softwareishard.com/blog/har-12-spec/). Every exchange of a call is one entry,
/// retries and redirects included. A failed exchange has the error's code in `_error`, and the part of a response that
/// arrived, or status 0. Secrets are found by their names. A secret of at least 6 bytes is then replaced everywhere in the
/// archive.
public final class HARRecorder: EventMonitor {
    /// The number of exchanges to keep, at least 1. The oldest is removed first. Default 200.
    public let maximumEntries: Int
    /// The largest body to store, in bytes. For a longer body only its size is stored. Default 64 KiB. The body of a
    /// stream or a download is not stored.
    public let bodyLimit: Int
    private let redaction: Redaction
    private let state = Protected(State())

    private struct State {
        /// The entries, masked by names, with the secrets that ``data`` masks in all entries.
        var entries: [(entry: HAR.Entry, secrets: Set<ExactText>)] = []
        /// The index of the next entry once the list is full.
        var oldest = 0
    }

    /// Creates a recorder. With each exchange it keeps its secrets in memory, to mask them in the whole archive.
    ///
    /// - Parameters:
    ///   - maximumEntries: The number of exchanges to keep, at least 1. Default 200.
    ///   - bodyLimit: The largest body to store, in bytes. Default 64 KiB.
    ///   - redaction: The names of secrets. Default `Redaction.standard`.
    public init(maximumEntries: Int = 200, bodyLimit: Int = 64 << 10, redaction: Redaction = .standard) {
        self.maximumEntries = max(1, maximumEntries)
        self.bodyLimit = max(0, bodyLimit)
        self.redaction = redaction
    }

    /// Records the exchanges among the events.
    public func record(_ event: CallEvent) {
        guard case .exchangeEnded(let metrics, let response) = event.kind else { return }
        var masking = ExchangeMasking(metrics.request.redaction(extending: redaction))
        let masked = masking.masked(entry(metrics, response ?? event.response))
        let stored = (masked, masking.secrets)
        state.withLock { state in
            if state.entries.count < maximumEntries {
                state.entries.append(stored)
            } else {
                state.entries[state.oldest] = stored
                state.oldest = (state.oldest + 1) % maximumEntries
            }
        }
    }

    /// The number of exchanges stored now.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Removes all exchanges.
    public func removeAll() {
        state.withLock { $0 = State() }
    }

    /// The archive as JSON, oldest exchange first. Each access makes it anew.
    ///
    /// - Throws: The error of the encoder.
    public var data: Data {
        get throws {
            let stored = state.withLock { state in
                Array(state.entries[state.oldest...] + state.entries[..<state.oldest])
            }
            var masking = ExchangeMasking(redaction)
            for secret in stored.reduce(into: Set(), { $0.formUnion($1.secrets) }) { masking.add(secret.text) }
            let secrets = masking.storedSecrets
            return try HAR(log: HAR.Log(entries: stored.map { secrets.masked($0.entry) })).data
        }
    }

    /// Writes the archive atomically to a file that only its owner can read.
    ///
    /// - Throws: `NetworkError.Code.cannotWriteFile`.
    public func write(to file: URL) throws(NetworkError) {
        do {
            try PrivateFile.write(data, to: file)
        } catch {
            throw NetworkError(
                .cannotWriteFile, reason: "\(file.path.quotedInFull): \(error.localizedDescription)", underlying: error)
        }
    }

    // MARK: An entry

    private func entry(_ exchange: ExchangeRecord, _ response: NetworkResponse?) -> HAR.Entry {
        let request = exchange.request
        let sent = request.recordedBody(upTo: bodyLimit)
        let answer = response ?? NetworkResponse(statusCode: 0)
        return HAR.Entry(
            HAR.Request(
                request.method, request.url, request.allHeaders, body: sent.data ?? Data(), bodySize: sent.size),
            answer, body: answer.body.count <= bodyLimit ? answer.body : Data(),
            bodySize: answer.recordedBodySize ?? -1, outcome: exchange.outcome,
            start: Date(timeIntervalSinceNow: -exchange.duration.seconds), elapsed: exchange.duration)
    }
}

extension NetworkResponse {
    /// The size of the body in bytes, for a recording. Nil for a stream.
    package var recordedBodySize: Int? {
        guard stream == nil else { return nil }
        return fileURL == nil ? body.count : Int(clamping: metrics.bytesReceived)
    }
}

extension NetworkRequest {
    /// Returns the body for a recording, and its size in bytes. The body is nil if it is streamed, is longer than the
    /// limit or cannot be encoded, and if it is compressed, because its secrets cannot be masked. The size is nil if it
    /// is unknown.
    package func recordedBody(upTo limit: Int) -> (data: Data?, size: Int?) {
        guard !body.isEmpty else { return (Data(), 0) }
        let size = body.length.map { Int(clamping: $0) }
        guard !body.isStreamed, !allHeaders.contains("Content-Encoding"), size ?? 0 <= limit,
            let data = try? body.encode()
        else { return (nil, size) }
        return (data.count <= limit ? data : nil, data.count)
    }
}
