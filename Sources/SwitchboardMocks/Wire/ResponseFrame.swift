import Foundation
import Switchboard
import SwitchboardText

/// The frame around the body of an answer: status line, header fields, framing.
struct ResponseFrame {
    /// The part of the body that is sent.
    let body: Data
    /// Whether the answer has a body, which may be empty.
    let hasBody: Bool
    let isChunked: Bool
    /// Whether the connection accepts another request after this answer.
    let isKept: Bool
    let statusLine: Data
    /// Status line, header fields and the empty line.
    let head: Data

    /// Creates the frame of an answer that breaks at `place`, or of a complete one when it is nil. `request` is nil for
    /// one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?, until place: BreakPoint.Place?) {
        let cut: Int? =
            switch place {
            case nil: nil
            case .body(let count): count
            default: 0
            }
        let isOld = request?.httpVersion == "HTTP/1.0"
        let isOdd = response.wire.isOdd
        isChunked = (response.chunkSizes != nil || !response.trailers.isEmpty) && !isOld
        hasBody = response.allowsBody(to: request?.method ?? .get)
        body = hasBody ? response.body.prefix(cut ?? response.body.count) : Data()

        var headers = response.headers
        // One byte more when the cut would not show otherwise.
        let missing = (cut ?? 0) >= response.body.count && cut != nil ? 1 : 0
        if let length = response.wire.announcedLength { headers.set("Content-Length", String(length)) }
        if !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding"), !response.isBodiless {
            if isChunked {
                headers.add("Transfer-Encoding", "chunked")
            } else if response.chunkSizes == nil, response.trailers.isEmpty, response.wire.version == "HTTP/1.1" {
                headers.add("Content-Length", String(response.body.count + missing))
            }
        }
        if let length = response.wire.secondLength { headers.add("Content-Length", String(length)) }
        let closes = headers.hasToken("close", in: "Connection")
        isKept = place == nil && !isOdd && request?.keepsConnection == true && !closes
        // A fault does not announce that the connection ends.
        if place == nil, !isOdd, !isKept, !headers.contains("Connection") { headers.add("Connection", "close") }

        let status = response.status
        statusLine = Data("\(response.wire.version) \(status) \(ReasonPhrase.phrase(for: status))\r\n".utf8)
        head = statusLine + Data((headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
    }
}

extension RecordedRequest {
    /// Whether the client accepts another answer on this connection.
    fileprivate var keepsConnection: Bool {
        httpVersion == "HTTP/1.1" && !headers.hasToken("close", in: "Connection")
    }
}
