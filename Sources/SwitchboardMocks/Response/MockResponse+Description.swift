import Switchboard

extension MockResponse: CustomStringConvertible {
    /// Status, size, pace and fault on one line. Headers and body are left out, because they may hold secrets.
    public var description: String {
        let answer = "\(status), \(body.count) bytes" + (chunkSizes == nil ? "" : ", chunked") + oddities
        let text =
            switch course {
            case .complete: answer
            case .broken(.close, .response): "close"
            case .broken(.reset, .response): "reset"
            case .broken(.stall, .response): "stall"
            case .broken(let action, let point) where point.requestStage != nil: "\(action.rawValue) \(point)"
            case .broken(.close, let point): "\(answer), truncated \(point)"
            case .broken(.reset, let point): "\(answer), reset \(point)"
            case .broken(.stall, let point): "\(answer), stalled \(point)"
            case .script(let steps): "\(steps.byteCount) raw bytes"
            case .webSocket(let steps): "a WebSocket of \(steps.count) steps"
            case .failure(let error): "failure \(error.code)"
            }
        return text + pace.words
    }

    private var oddities: String {
        var words: [String] = []
        if wire.version != "HTTP/1.1" { words.append(wire.version) }
        if let length = wire.announcedLength { words.append("announced as \(length)") }
        if let length = wire.secondLength { words.append("and as \(length)") }
        if wire.chunkSizeText != nil { words.append("a bad chunk size") }
        if !wire.trailing.isEmpty { words.append("\(wire.trailing.count) bytes behind it") }
        if let interim = wire.interim { words.append("\(interim.count) interim \(interim.status) before it") }
        return words.map { ", \($0)" }.joined()
    }
}

extension Pace {
    fileprivate var words: String {
        var words = ""
        if delay > .zero { words += ", delayed by \(delay)" }
        if betweenChunks > .zero { words += ", a chunk every \(betweenChunks)" }
        if betweenBytes > .zero { words += ", a byte every \(betweenBytes)" }
        if let bytesPerSecond { words += ", \(bytesPerSecond) bytes a second" }
        return words
    }
}

extension [RawStep] {
    fileprivate var byteCount: Int {
        reduce(0) { sum, step in
            if case .send(let bytes) = step.action { sum + bytes.count } else { sum }
        }
    }
}

extension MockResponse: CustomReflectable {
    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
