import Foundation
import Switchboard
import SwitchboardText

/// A ``MockResponse`` as the bytes that answer one request, and the end of the connection after them.
struct WireResponse {
    /// The writes and the pauses between them.
    private(set) var steps: [MockResponse.Step] = []
    /// The end of the connection after the steps. Nil for a connection that stays open.
    private(set) var ending: MockResponse.Break? = .close
    private(set) var isWhole = true

    /// Creates the bytes of a response. `request` is nil for one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?) {
        switch response.outcome {
        case .complete, .webSocket: write(response, to: request, until: nil)
        case .broken(let action, let point):
            ending = action
            isWhole = false
            write(response, to: request, until: point.location)
        case .script(let steps):
            let end = steps.firstIndex(where: \.isEnd) ?? steps.endIndex
            self.steps = Array(steps[..<end])
            if case .end(let action)? = steps[end...].first?.action { ending = action }
        case .failure: isWhole = false
        }
        if response.pace.betweenBytes > .zero { drip(every: response.pace.betweenBytes) }
    }

    // MARK: Head and body

    /// Adds the steps of the answer up to a point, or all of them when `location` is nil.
    private mutating func write(
        _ response: MockResponse, to request: RecordedRequest?, until location: MockResponse.BreakPoint.Location?
    ) {
        let frame = ResponseFrame(response, to: request, until: location)
        switch location {
        case .accept, .requestLine, .requestHead, .requestBody, .response: return
        case .statusLine: return steps.append(.send(frame.statusLine))
        case .head, .body, nil: break
        }
        if response.chunkSizes != nil || frame.isChunked, frame.hasBody {
            steps.append(.send(frame.head))
            write(chunks: response.chunks(of: frame.body), isFramed: frame.isChunked, response.pace)
            if frame.isChunked, location == nil {
                let fields = response.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
                steps.append(.send(Data("0\r\n\(fields)\r\n".utf8)))
            }
        } else if response.pace.bytesPerSecond == nil, frame.body.count <= 1 << 14 {
            steps.append(.send(frame.head + frame.body))
        } else {
            steps.append(.send(frame.head))
            add(frame.body, response.pace)
        }
        if location == nil { ending = frame.isKept ? nil : .close }
    }

    private mutating func write(chunks: [Data], isFramed: Bool, _ pace: Pace) {
        for (index, chunk) in chunks.enumerated() {
            if index > 0, pace.betweenChunks > .zero { steps.append(.pause(pace.betweenChunks)) }
            guard isFramed else {
                add(chunk, pace)
                continue
            }
            let (line, end) = (Data("\(String(chunk.count, radix: 16))\r\n".utf8), Data("\r\n".utf8))
            guard pace.bytesPerSecond != nil else {
                steps.append(.send(line + chunk + end))
                continue
            }
            steps.append(.send(line))
            add(chunk, pace)
            steps.append(.send(end))
        }
    }

    // MARK: Pace

    /// Adds bytes in pieces of a twentieth of a second.
    private mutating func add(_ bytes: Data, _ pace: Pace) {
        guard let rate = pace.bytesPerSecond else { return steps.append(.send(bytes)) }
        var rest = bytes
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, rate / 20))
            rest = rest.dropFirst(piece.count)
            steps.append(.pause(.taken(by: Int64(piece.count), at: rate)))
            steps.append(.send(piece))
        }
    }

    private mutating func drip(every time: Duration) {
        steps = steps.flatMap { step -> [MockResponse.Step] in
            guard case .send(let bytes) = step.action else { return [step] }
            return bytes.flatMap { [.pause(time), .send(Data([$0]))] }
        }
        let first = steps.firstIndex { if case .send = $0.action { true } else { false } }
        if let first { steps.remove(at: first - 1) }
    }
}

/// The frame around the body of an answer: status line, header fields, framing.
struct ResponseFrame {
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
        let method = request?.method ?? .get
        hasBody = response.allowsBody(to: method)
        body = hasBody ? response.body.prefix(cut ?? response.body.count) : Data()

        var headers = response.headers
        // Announces one more byte when the cut would not be visible otherwise.
        let missing = (cut ?? 0) >= response.body.count && cut != nil ? 1 : 0
        if missing > 0, headers["Content-Length"] == "\(response.body.count)" {
            headers.set("Content-Length", "\(response.body.count + missing)")
        }
        if !response.trailers.isEmpty { headers.remove("Content-Length") }  // only chunks have trailers
        // A scripted length is that of a body without chunks.
        let mayBeChunked = headers.contains("Transfer-Encoding") || !headers.contains("Content-Length")
        isChunked =
            (response.chunkSizes != nil || !response.trailers.isEmpty) && mayBeChunked && !isOld
        if !headers.contains("Content-Length"), !headers.contains("Transfer-Encoding"),
            !response.isBodiless(to: method)
        {
            if isChunked {
                headers.add("Transfer-Encoding", "chunked")
            } else if response.chunkSizes == nil, response.trailers.isEmpty {
                headers.add("Content-Length", String(response.body.count + missing))
            }
        }
        let closes = headers.hasToken("close", in: "Connection")
        isKept = location == nil && request?.keepsConnection == true && !closes
        // A fault does not announce that the connection ends.
        if location == nil, !isKept, !headers.contains("Connection") {
            headers.add("Connection", "close")
        }

        let status = response.statusCode
        statusLine = Data("HTTP/1.1 \(status) \(StatusText.phrase(for: status))\r\n".utf8)
        head = statusLine + Data((headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n").utf8)
    }
}

extension RecordedRequest {
    /// Whether the client accepts another answer on this connection.
    fileprivate var keepsConnection: Bool {
        httpVersion == "HTTP/1.1" && !headers.hasToken("close", in: "Connection")
    }
}
