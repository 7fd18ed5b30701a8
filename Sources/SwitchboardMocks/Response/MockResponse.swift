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
    public var status: Int
    /// The header fields as scripted, repeats kept. A ``MockServer`` adds the fields that frame the body.
    public var headers: HTTPHeaders
    /// The whole body, even if a fault withholds a part of it. It is not sent to HEAD nor with 1xx, 204 and 304.
    public var body: Data
    /// The fields after the body. A ``MockServer`` then sends the body in chunks, except to HTTP/1.0, which has no
    /// trailers. As with a real session, a download has them, and a response that the app reads as a stream has none.
    /// Default none.
    public var trailers = HTTPHeaders()

    /// The way the answer ends.
    var course = Course.complete
    /// The answer's pace.
    var pace = Pace()
    /// The faults in the answer's bytes.
    var wire = WireFaults()
    /// The content that a client decodes, when it differs from the body.
    var packing: Packing?
    /// The sizes of the chunks, the last one for all that follow. Nil for a body with a `Content-Length`.
    var chunkSizes: [Int]?
    /// The number of requests that the response answers at the head of a queue, or nil for all that come.
    var repeats: Int? = 1

    enum Course: Sendable {
        case complete
        /// The connection ends, or falls silent, at a point of the exchange.
        case broken(Break, at: BreakPoint)
        case script([RawStep])
        case webSocket([WebSocketStep])
        case failure(NetworkError)
    }

    /// The content of a body with a `Content-Encoding`.
    enum Packing: Sendable {
        case gzip(Data)
        case zeros(Int)
        /// Another content than the field says.
        case mislabelled
    }

    /// The fate of a connection at a point.
    enum Break: String, Sendable {
        case close, reset, stall
    }

    init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), course: Course = .complete) {
        self.status = status
        self.headers = headers
        self.body = body
        self.course = course
    }

    /// Returns this response with a change.
    func with(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var response = self
        change(&response)
        return response
    }
}
