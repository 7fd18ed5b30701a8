import Foundation
import Switchboard

/// A ``MockResponse`` as the bytes that answer one request, and the end of the connection behind them.
struct WireResponse {
    enum Ending: Equatable {
        case keepAlive, close, reset, stall
    }

    /// One write, or the silence before it.
    enum Piece {
        case bytes(Data)
        case pause(Duration)
    }

    private(set) var pieces: [Piece] = []
    private(set) var ending = Ending.close
    /// Whether the pieces contain everything scripted.
    private(set) var isWhole = true

    /// Creates the bytes of a response. `request` is nil for one that could not be read.
    init(_ response: MockResponse, to request: RecordedRequest?) {
        let response = response.refusingInvalidHeaders()
        switch response.course {
        case .complete, .webSocket: write(response, to: request, until: nil)
        case .broken(let action, let point):
            ending = Ending(action)
            isWhole = false
            write(response, to: request, until: point.place)
        case .script(let steps): for step in steps { add(step) }
        case .failure: isWhole = false
        }
        if response.pace.betweenBytes > .zero { drip(every: response.pace.betweenBytes) }
    }

    private mutating func add(_ step: RawStep) {
        switch step.action {
        case .send(let bytes): pieces.append(.bytes(bytes))
        case .pause(let time): pieces.append(.pause(time))
        case .close: ending = .close
        case .reset: ending = .reset
        case .stall: ending = .stall
        case .keepAlive: ending = .keepAlive
        }
    }

    // MARK: Head and body

    /// Adds the pieces of the answer up to a point, or all of them when `place` is nil.
    private mutating func write(
        _ response: MockResponse, to request: RecordedRequest?, until place: BreakPoint.Place?
    ) {
        let frame = ResponseFrame(response, to: request, until: place)
        switch place {
        case .accept, .requestLine, .requestHead, .requestBody, .response: return
        case .statusLine: return pieces.append(.bytes(frame.statusLine))
        case .head, .body, nil: break
        }
        for _ in 0..<(response.wire.interim?.count ?? 0) { pieces.append(.bytes(response.wire.interimHead)) }
        if frame.isChunked, frame.hasBody {
            pieces.append(.bytes(frame.head))
            write(chunks: response.chunks(of: frame.body), response)
            if place == nil, response.wire.chunkSizeText == nil {
                let fields = response.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
                pieces.append(.bytes(Data("0\r\n\(fields)\r\n".utf8)))
            }
        } else if response.pace.bytesPerSecond == nil, frame.body.count <= 1 << 14 {
            pieces.append(.bytes(frame.head + frame.body))
        } else {
            pieces.append(.bytes(frame.head))
            add(frame.body, response.pace)
        }
        guard place == nil else { return }
        if !response.wire.trailing.isEmpty { pieces.append(.bytes(response.wire.trailing)) }
        ending = frame.isKept ? .keepAlive : .close
    }

    private mutating func write(chunks: [Data], _ response: MockResponse) {
        for (index, chunk) in chunks.enumerated() {
            if index > 0, response.pace.betweenChunks > .zero { pieces.append(.pause(response.pace.betweenChunks)) }
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

extension WireResponse.Ending {
    init(_ action: MockResponse.Break) {
        switch action {
        case .close: self = .close
        case .reset: self = .reset
        case .stall: self = .stall
        }
    }
}
