import Foundation
import Switchboard

extension MockResponse {
    /// Whether the status has neither a body nor a length (RFC 9112 §6.3).
    var isBodiless: Bool {
        (100..<200).contains(status) || status == 204 || status == 304
    }

    /// Whether a ``StubSession`` answers with this response without waiting.
    var isImmediate: Bool {
        if case .broken(.stall, _) = course { return false }
        return pace == Pace()
    }

    func allowsBody(to method: HTTPMethod) -> Bool {
        method != .head && !isBodiless
    }

    /// The error in the scripted headers, or nil when they are valid.
    var headerFault: String? {
        do throws(NetworkError) {
            try headers.validate()
            return nil
        } catch {
            return "the scripted response: \(error.reason ?? "bad headers"); MockResponse.raw sends such bytes"
        }
    }

    /// Returns this response, or a 500 that reports the error in its headers.
    func refusingInvalidHeaders() -> MockResponse {
        headerFault.map { .text("MockServer: \($0)\n", status: 500) } ?? self
    }

    /// The feature that needs a real socket, or nil when a stub can simulate the whole response.
    var needsSocket: String? {
        if case .script = course { return "raw bytes" }
        return wire.needsSocket
    }

    /// The part of the request at which the connection ends, or nil when the whole request is read.
    var requestBreak: (point: BreakPoint, stage: Int)? {
        guard case .broken(_, let point) = course, let stage = point.requestStage else { return nil }
        return (point, stage)
    }

    /// Splits a body, or the first part of one, into chunks of the scripted sizes. Returns one piece without sizes, and
    /// no piece for an empty body.
    func chunks(of body: Data) -> [Data] {
        guard let chunkSizes, !chunkSizes.isEmpty else { return body.isEmpty ? [] : [body] }
        var chunks: [Data] = []
        var rest = body
        while !rest.isEmpty {
            let chunk = rest.prefix(chunkSizes[min(chunks.count, chunkSizes.count - 1)])
            chunks.append(chunk)
            rest = rest.dropFirst(chunk.count)
        }
        return chunks
    }
}
