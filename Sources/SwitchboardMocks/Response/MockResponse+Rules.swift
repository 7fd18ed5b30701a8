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

    /// What is wrong with the scripted headers; nil when nothing is.
    var headerFault: String? {
        do throws(NetworkError) {
            try headers.validate()
            return nil
        } catch {
            return "the scripted response: \(error.reason ?? "bad headers"); MockResponse.raw sends such bytes"
        }
    }

    /// This response, or a 500 that says what is wrong with its headers.
    func refusingInvalidHeaders() -> MockResponse {
        headerFault.map { .text("MockServer: \($0)\n", status: 500) } ?? self
    }

    /// What of it only a socket can show; nil when a stub can stand for it.
    var needsSocket: String? {
        if case .script = course { return "raw bytes" }
        return wire.needsSocket
    }

    /// The part of the request at which the connection ends; nil when the whole request is read.
    var requestBreak: (point: BreakPoint, stage: Int)? {
        guard case .broken(_, let point) = course, let stage = point.requestStage else { return nil }
        return (point, stage)
    }

    /// A body, or the first part of it, in the chunks that were asked for; whole when none were.
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
