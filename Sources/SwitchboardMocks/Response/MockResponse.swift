import Foundation
import Switchboard

/// A scripted answer for ``StubSession`` and ``MockServer``: a response, or a fault of a server.
///
/// ```swift
/// let session = StubSession(
///     .json(#"{"page":1}"#),
///     .status(503, headers: ["Retry-After": "1"]),
///     .truncated(after: 100))
/// session.enqueue(
///     .text("a long one").chunked(3).paced(every: .milliseconds(10))
///         .delayed(by: .milliseconds(200)),
///     .stall)
/// ```
///
/// A ``MockServer`` makes a fault real: bytes are missing, the connection is reset. A ``StubSession`` throws the error
/// that a session throws for the fault. For faults that only bytes on a socket can show, such as a bad chunk size, it
/// throws ``/Switchboard/NetworkError/Code/unsupported``. ``MockFault/all`` lists the faults.
public struct MockResponse: Sendable {
    /// The status code, sent unchanged whatever its value.
    public var statusCode: Int
    /// The header fields as scripted, repeats included. A ``MockServer`` adds those about the framing of the body and
    /// the end of the connection, and `Sec-WebSocket-Accept`.
    public var headers: HTTPHeaders {
        didSet { if !headers.contains("Content-Encoding") { encodedContent = nil } }
    }
    /// The whole body, even if a fault withholds a part of it. It is not sent to HEAD, with 1xx, 204 and 304, and with
    /// a 2xx to CONNECT. After ``gzipped()``, a stub treats new bytes as not compressed, as a client does that cannot
    /// decode them.
    public var body: Data {
        didSet { if encodedContent != nil { encodedContent = .mislabelled } }
    }
    /// The fields after the body. A ``MockServer`` then sends the body in chunks, except to HTTP/1.0, which has no
    /// trailers. As with a real session, a download has them, and a response that the app reads as a stream has none.
    /// Default none.
    public var trailers = HTTPHeaders()

    var outcome = Outcome.complete
    var pace = Pace()
    /// The content that a client decodes from the body. Nil for a body without a coding.
    var encodedContent: EncodedContent?
    /// The sizes of the chunks, the last one for all that follow. Nil for a body with a `Content-Length`.
    var chunkSizes: [Int]?
    /// The number of requests that the response answers at the head of a queue, or nil for all that come.
    var repeats: Int? = 1

    enum Outcome: Sendable {
        case complete
        /// The connection ends, or falls silent, at a point of the exchange.
        case broken(Break, at: BreakPoint)
        case script([Step])
        case webSocket([WebSocketStep])
        case failure(NetworkError)
    }

    /// The content of a body with a `Content-Encoding`.
    enum EncodedContent: Sendable {
        case gzip(Data)
        /// Content in another coding than the field says.
        case mislabelled
    }

    enum Break: String, Sendable {
        case close, reset, stall
    }

    init(statusCode: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), outcome: Outcome = .complete) {
        self.statusCode = statusCode
        self.headers = headers
        self.body = body
        self.outcome = outcome
    }

    func with(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var response = self
        change(&response)
        return response
    }
}

extension MockResponse {
    /// Whether the response has neither a body nor a length. After a 2xx to CONNECT, the tunnel begins (RFC 9112 §6.3).
    func isBodiless(to method: HTTPMethod) -> Bool {
        (100..<200).contains(statusCode) || statusCode == 204 || statusCode == 304
            || method == .connect && (200..<300).contains(statusCode)
    }

    func allowsBody(to method: HTTPMethod) -> Bool {
        method != .head && !isBodiless(to: method)
    }

    var headerError: String? {
        do throws(NetworkError) {
            try headers.validate()
            return nil
        } catch {
            return "the scripted response: \(error.reason ?? "bad headers"); MockResponse.raw sends such bytes"
        }
    }

    func refusingInvalidHeaders() -> MockResponse {
        headerError.map { .text("MockServer: \($0)\n", statusCode: 500) } ?? self
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

extension MockResponse: DumpedAsDescription {
    /// Status, size, pace and fault on one line. Headers and body are left out, because they may hold secrets.
    public var description: String {
        let answer = "\(statusCode), \(body.count) bytes" + (chunkSizes == nil ? "" : ", chunked")
        let text =
            switch outcome {
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

extension [MockResponse.Step] {
    fileprivate var byteCount: Int {
        reduce(0) { sum, step in
            if case .send(let bytes) = step.action { sum + bytes.count } else { sum }
        }
    }
}

/// Responses in the order in which they answer. Some answer several times.
struct ResponseQueue: Sendable {
    var responses: ArraySlice<MockResponse> = []

    var first: MockResponse? { responses.first }

    /// The responses with answers left, without those that repeat without limit.
    var rest: [MockResponse] { responses.filter { $0.repeats != nil } }

    /// Returns the first response, which stays in the queue while it repeats.
    mutating func next() -> MockResponse? {
        guard let first = responses.first else { return nil }
        switch first.repeats {
        case nil: break
        case let count? where count > 1: responses[responses.startIndex].repeats = count - 1
        default:
            responses.removeFirst()
            if responses.isEmpty { responses = [] }  // releases the earlier ones
        }
        return first
    }
}
