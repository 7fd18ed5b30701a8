import Foundation
import Switchboard
import SwitchboardText

/// A ``MockResponse`` as the bytes that answer one request, and the end of the connection after them.
struct WireResponse {
    /// One write, or the silence before it.
    enum Piece {
        case bytes(Data)
        case pause(Duration)
    }

    private(set) var pieces: [Piece] = []
    /// The end of the connection after the pieces. Nil for a connection that stays open.
    private(set) var ending: MockResponse.Break? = .close
    /// Whether the pieces contain everything scripted.
    private(set) var isWhole = true

    /// Creates the bytes of a response. `request` is nil for one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?) {
        switch response.outcome {
        case .complete, .webSocket: write(response, to: request, until: nil)
        case .broken(let action, let point):
            ending = action
            isWhole = false
            write(response, to: request, until: point.location)
        case .script(let steps): for step in steps { add(step) }
        case .failure: isWhole = false
        }
        if response.pace.betweenBytes > .zero { drip(every: response.pace.betweenBytes) }
    }

    private mutating func add(_ step: MockResponse.Step) {
        switch step.action {
        case .send(let bytes): pieces.append(.bytes(bytes))
        case .pause(let time): pieces.append(.pause(time))
        case .end(let end): ending = end
        }
    }

    // MARK: Head and body

    /// Adds the pieces of the answer up to a point, or all of them when `location` is nil.
    private mutating func write(
        _ response: MockResponse, to request: RecordedRequest?, until location: MockResponse.BreakPoint.Location?
    ) {
        let frame = ResponseFrame(response, to: request, until: location)
        switch location {
        case .accept, .requestLine, .requestHead, .requestBody, .response: return
        case .statusLine: return pieces.append(.bytes(frame.statusLine))
        case .head, .body, nil: break
        }
        for _ in 0..<(response.wire.interim?.count ?? 0) { pieces.append(.bytes(response.wire.interimHead)) }
        if response.chunkSizes != nil || frame.isChunked, frame.hasBody {
            pieces.append(.bytes(frame.head))
            write(chunks: response.chunks(of: frame.body), isFramed: frame.isChunked, response)
            if frame.isChunked, location == nil, response.wire.chunkSizeText == nil {
                let fields = response.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
                pieces.append(.bytes(Data("0\r\n\(fields)\r\n".utf8)))
            }
        } else if response.pace.bytesPerSecond == nil, frame.body.count <= 1 << 14 {
            pieces.append(.bytes(frame.head + frame.body))
        } else {
            pieces.append(.bytes(frame.head))
            add(frame.body, response.pace)
        }
        guard location == nil else { return }
        if !response.wire.trailing.isEmpty { pieces.append(.bytes(response.wire.trailing)) }
        ending = frame.isKept ? nil : .close
    }

    private mutating func write(chunks: [Data], isFramed: Bool, _ response: MockResponse) {
        for (index, chunk) in chunks.enumerated() {
            if index > 0, response.pace.betweenChunks > .zero { pieces.append(.pause(response.pace.betweenChunks)) }
            guard isFramed else {
                add(chunk, response.pace)
                continue
            }
            let size = (index == 0 ? response.wire.chunkSizeText : nil) ?? String(chunk.count, radix: 16)
            let (line, end) = (Data("\(size)\r\n".utf8), Data("\r\n".utf8))
            guard response.pace.bytesPerSecond != nil else {
                pieces.append(.bytes(line + chunk + end))
                continue
            }
            pieces.append(.bytes(line))
            add(chunk, response.pace)
            pieces.append(.bytes(end))
        }
    }

    // MARK: Pace

    /// Adds bytes in pieces of a twentieth of a second.
    private mutating func add(_ bytes: Data, _ pace: Pace) {
        guard let rate = pace.bytesPerSecond else { return pieces.append(.bytes(bytes)) }
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, rate / 20))
            rest = rest.dropFirst(piece.count)
            pieces.append(.bytes(piece))
            pieces.append(.pause(.seconds(Double(piece.count) / Double(rate))))
        }
    }

    private mutating func drip(every time: Duration) {
        pieces = pieces.flatMap { piece -> [Piece] in
            guard case .bytes(let bytes) = piece else { return [piece] }
            return bytes.flatMap { [.bytes(Data([$0])), .pause(time)] }
        }
    }
}

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

    /// Creates the frame of an answer that breaks at `location`, or of a complete one when it is nil. `request` is nil
    /// for one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?, until location: MockResponse.BreakPoint.Location?) {
        let cut: Int? =
            switch location {
            case nil: nil
            case .body(let count): count
            default: 0
            }
        let isOld = request?.httpVersion == "HTTP/1.0"
        let endsConnection = response.wire.endsConnection
        hasBody = response.allowsBody(to: request?.method ?? .get)
        body = hasBody ? response.body.prefix(cut ?? response.body.count) : Data()

        var headers = response.headers
        // Announces one more byte when the cut would not be visible otherwise.
        let missing = (cut ?? 0) >= response.body.count && cut != nil ? 1 : 0
        if let length = response.wire.announcedLength {
            headers.set("Content-Length", String(length))
        } else if !response.trailers.isEmpty {
            headers.remove("Content-Length")  // only chunks have trailers
        }
        // A scripted length is that of a body without chunks.
        let mayBeChunked = headers.contains("Transfer-Encoding") || !headers.contains("Content-Length")
        isChunked =
            (response.chunkSizes != nil || !response.trailers.isEmpty) && mayBeChunked && !isOld
            && response.wire.version == "HTTP/1.1"
        if !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding"), !response.isBodiless {
            if isChunked {
                headers.add("Transfer-Encoding", "chunked")
            } else if response.chunkSizes == nil, response.trailers.isEmpty, response.wire.version == "HTTP/1.1" {
                headers.add("Content-Length", String(response.body.count + missing))
            }
        }
        if let length = response.wire.secondLength { headers.add("Content-Length", String(length)) }
        let closes = headers.hasToken("close", in: "Connection")
        isKept = location == nil && !endsConnection && request?.keepsConnection == true && !closes
        // A fault does not announce that the connection ends.
        if location == nil, !endsConnection, !isKept, !headers.contains("Connection") {
            headers.add("Connection", "close")
        }

        let status = response.statusCode
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
