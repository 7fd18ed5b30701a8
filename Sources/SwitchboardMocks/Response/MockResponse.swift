import Foundation
import Switchboard

/// A scripted answer, for ``StubSession`` and ``MockServer`` alike: a response, or one of the ways in which a server
/// fails.
///
/// ```swift
/// server.enqueue(.json(#"{"page":1}"#), .status(503, headers: ["Retry-After": "1"]), .truncated(after: 100), .stall)
/// server.enqueue(.text("a long one").chunked(3).paced(every: .milliseconds(10)).delayed(by: .milliseconds(200)))
/// ```
///
/// Over a ``MockServer`` a fault is real: bytes that are missing, a connection that is reset. A ``StubSession`` throws
/// the error that a session throws for it; what only bytes on a socket can show, such as a bad chunk size, is
/// ``/Switchboard/NetworkError/Code/unsupported`` there. ``MockFault/all`` lists the faults.
public struct MockResponse: Sendable {
    /// The status code, sent as it is whatever its value.
    public var status: Int
    /// The header fields as scripted, repeats kept. A ``MockServer`` adds those that frame the body.
    public var headers: HTTPHeaders
    /// The whole body, also where a fault keeps back a part of it. Not sent to HEAD nor with 1xx, 204 and 304.
    public var body: Data

    /// How the answer goes on, and ends.
    var course = Course.complete
    /// How fast it comes.
    var pace = Pace()
    /// What is wrong with its bytes.
    var wire = WireFaults()
    /// What a client makes of the body, when that is not the body itself.
    var packing: Packing?
    /// The sizes of the chunks, the last one for all that follow; nil for a body with a `Content-Length`.
    var chunkSizes: [Int]?
    /// How many requests it answers while it stands at the head of a queue; nil for all that come.
    var repeats: Int? = 1

    enum Course: Sendable {
        case complete
        /// The connection ends, or falls silent, at a point of the exchange.
        case broken(Break, at: BreakPoint)
        case script([RawStep])
        case failure(NetworkError)
    }

    /// What is in a body with a `Content-Encoding`.
    enum Packing: Sendable {
        case gzip(Data)
        case zeros(Int)
        /// Something else than the field says.
        case mislabelled
    }

    /// What becomes of a connection at a point.
    enum Break: String, Sendable {
        case close, reset, stall
    }

    init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data(), course: Course = .complete) {
        self.status = status
        self.headers = headers
        self.body = body
        self.course = course
    }

    /// This response with a change.
    func with(_ change: (inout MockResponse) -> Void) -> MockResponse {
        var response = self
        change(&response)
        return response
    }
}
