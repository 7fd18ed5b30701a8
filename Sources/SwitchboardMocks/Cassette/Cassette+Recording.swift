import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardHAR

extension Cassette {
    /// Sends a request whose body was read, and records the exchange. Returns the session's response.
    func record(_ request: NetworkRequest) async throws -> NetworkResponse {
        let index = tape.withLock { tape in
            tape.redaction = request.redaction(extending: tape.redaction)
            return tape.open()
        }
        let start = (Date(), ContinuousClock.now)
        let entry: @Sendable (NetworkResponse) -> HAR.Entry = { response in
            HAR.Entry(
                HAR.Request(request), response, body: Data(), start: start.0, elapsed: ContinuousClock.now - start.1)
        }
        // After an error the recording stays empty.
        var response = try await recordingMessages(of: request, at: index).sendReported(over: session)
        let isSocket = response.statusCode == 101 && request.options.upgrade != nil
        tape.withLock { [head = entry(response), body = response.body] in
            $0.change(index) {
                ($0.entry, $0.body) = (head, body)
                if isSocket { $0.messages = $0.messages ?? [] }
            }
        }
        if !isSocket, request.streams(response.statusCode), response.body.isEmpty {
            response.bytes = recorded(response, at: index, as: entry)
        }
        return response
    }

    /// Returns the bytes of a stream, which are recorded as they are read. An endless stream is recorded as far as it was
    /// read.
    private func recorded(
        _ response: NetworkResponse, at index: Int, as entry: @escaping @Sendable (NetworkResponse) -> HAR.Entry
    ) -> ResponseBytes {
        let tape = tape
        let source = response.bytes
        return source.reading {
            do {
                let chunk = try await source.next()
                if let chunk {
                    tape.withLock { $0.change(index) { $0.body += chunk } }
                } else if let result = source.result {
                    var whole = response
                    (whole.trailers, whole.metrics) = result
                    tape.withLock { [end = entry(whole)] in $0.change(index) { $0.entry = end } }
                }
                return chunk
            } catch let error as CancellationError {
                throw error
            } catch {
                tape.withLock { $0.change(index) { $0 = CassetteTape.Recording() } }
                throw error
            }
        }
    }

    /// Writes the recorded exchanges into the file, with their secrets replaced, and creates its folder. Does nothing
    /// when nothing was recorded since the last save.
    ///
    /// - Throws: `NetworkError.Code.cassetteFault`.
    public func save() throws(NetworkError) {
        let changes: (recorded: [HAR.Entry], redaction: Redaction)? = tape.withLock { tape in
            guard tape.isChanged else { return nil }
            tape.isChanged = false
            return (tape.recorded, tape.redaction)
        }
        guard let (recorded, redaction) = changes, mode != .rewrite || !recorded.isEmpty else { return }
        var masking = ExchangeMasking(redaction)
        let masked = (entries.map(\.entry) + recorded).map { masking.masked($0) }
        do {
            try write(masked.map(masking.storedSecrets.masked))
        } catch {
            tape.withLock { $0.isChanged = true }
            throw error
        }
    }

    private func write(_ entries: [HAR.Entry]) throws(NetworkError) {
        do {
            let data = try HAR(log: HAR.Log(entries: entries.map(\.withWebSocketScheme))).data
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try PrivateFile.write(data + Data("\n".utf8), to: file)
        } catch {
            throw NetworkError(
                .cassetteFault, reason: "the cassette \(file.path) cannot be written: \(error.localizedDescription)",
                underlying: error)
        }
    }
}
