import Switchboard

extension MockResponse: CustomStringConvertible {
    /// Status, size, pace and fault on one line; nothing of headers and body, which may hold secrets.
    public var description: String {
        let answer = "\(status), \(body.count) bytes" + (chunkSizes == nil ? "" : ", chunked")
        let text =
            switch course {
            case .complete: answer
            case .truncated(let count): "\(answer), truncated after \(count)"
            case .stalled(let count): "\(answer), stalled after \(count)"
            case .stall: "stall"
            case .close: "close"
            case .reset: "reset"
            case .raw(let bytes): "\(bytes.count) raw bytes"
            case .failure(let error): "failure \(error.code)"
            }
        return delay > .zero ? "\(text), delayed by \(delay)" : text
    }
}
