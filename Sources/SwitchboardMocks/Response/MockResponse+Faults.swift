import Foundation
import Switchboard

extension MockResponse {
    /// No answer, until the client leaves or the server stops. A stub waits for the request's timeout or its
    /// cancellation.
    public static var stall: MockResponse { MockResponse(course: .stall) }

    /// The connection is closed without a byte. From a stub: ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var close: MockResponse { MockResponse(course: .close) }

    /// The connection is reset (a TCP RST) without a byte. From a stub:
    /// ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var reset: MockResponse { MockResponse(course: .reset) }

    /// These bytes and no others, then the end of the connection: for heads that no server should send.
    ///
    /// It needs a socket: a stub throws ``/Switchboard/NetworkError/Code/unsupported``.
    public static func raw(_ bytes: Data) -> MockResponse { MockResponse(course: .raw(bytes)) }

    /// This text in UTF-8 and nothing else, line ends as written, then the end of the connection; see
    /// ``raw(_:)-(Data)``.
    public static func raw(_ text: String) -> MockResponse { raw(Data(text.utf8)) }

    /// An error in place of an answer. A ``MockServer``, which has no errors to give, closes the connection without a
    /// byte.
    public static func failure(_ code: NetworkError.Code, reason: String? = nil) -> MockResponse {
        failure(NetworkError(code, reason: reason))
    }

    /// An error in place of an answer, as it is; see ``failure(_:reason:)``.
    public static func failure(_ error: NetworkError) -> MockResponse { MockResponse(course: .failure(error)) }

    /// A 200 that announces more than `count` bytes, sends that many, and closes the connection.
    public static func truncated(after count: Int) -> MockResponse { filler(longerThan: count).truncated(after: count) }

    /// A 200 that announces more than `count` bytes, sends that many, and then nothing, until the client leaves or the
    /// server stops.
    public static func stalled(after count: Int) -> MockResponse { filler(longerThan: count).stalled(after: count) }

    /// This response, with the connection closed after `count` bytes of its body.
    ///
    /// The head announces the whole body, and one byte more when `count` does not cut it. A chunked body lacks its last
    /// chunk.
    public func truncated(after count: Int) -> MockResponse {
        var response = self
        response.course = .truncated(after: max(0, count))
        return response
    }

    /// This response, with silence after `count` bytes of its body, until the client leaves or the server stops.
    ///
    /// The head announces the whole body, and one byte more when `count` does not cut it. A chunked body lacks its last
    /// chunk.
    public func stalled(after count: Int) -> MockResponse {
        var response = self
        response.course = .stalled(after: max(0, count))
        return response
    }

    private static func filler(longerThan count: Int) -> MockResponse {
        .data(Data(repeating: UInt8(ascii: "x"), count: max(0, count) + 1_024))
    }
}
