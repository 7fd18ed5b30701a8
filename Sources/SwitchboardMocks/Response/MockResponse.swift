import Foundation
import Switchboard

/// A scripted answer, for ``StubSession`` and ``MockServer`` alike: a response, or one of the ways in which a server
/// fails.
///
/// ```swift
/// server.enqueue(.json(#"{"page":1}"#), .status(503, headers: ["Retry-After": "1"]), .truncated(after: 100), .stall)
/// server.enqueue(.text("a long one").chunked(3).delayed(by: .milliseconds(200)))
/// ```
///
/// Over a ``MockServer`` a fault is real: bytes that are missing, a connection that is reset. A ``StubSession`` throws
/// the error that a session throws for it.
public struct MockResponse: Sendable {
    /// The status code, sent as it is whatever its value.
    public var status: Int
    /// The header fields as scripted, repeats kept. A ``MockServer`` adds those that frame the body.
    public var headers: HTTPHeaders
    /// The whole body, also where a fault keeps back a part of it. Not sent to HEAD nor with 1xx, 204 and 304.
    public var body: Data

    /// How the answer goes on, and ends.
    var course = Course.complete
    /// How long the answer is held back once the request is read.
    var delay = Duration.zero
    /// The sizes of the chunks, the last one for all that follow; nil for a body with a `Content-Length`.
    var chunkSizes: [Int]?

    enum Course: Sendable {
        case complete
        /// The head and this many bytes of the body, then the end of the connection.
        case truncated(after: Int)
        /// The head and this many bytes of the body, then silence.
        case stalled(after: Int)
        case stall, close, reset
        case raw(Data)
        case failure(NetworkError)
    }

    init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), course: Course = .complete) {
        self.status = status
        self.headers = headers
        self.body = body
        self.course = course
    }
}
