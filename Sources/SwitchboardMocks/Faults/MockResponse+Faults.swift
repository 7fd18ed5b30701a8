import Foundation
import Switchboard

extension MockResponse {
    /// No answer, until the client leaves or the server stops. A stub waits for the request's timeout or its
    /// cancellation.
    public static var stall: MockResponse { stall(at: .response) }

    /// The connection is closed without a byte. From a stub: ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var close: MockResponse { close(at: .response) }

    /// The connection is reset (a TCP RST) without a byte. From a stub:
    /// ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var reset: MockResponse { reset(at: .response) }

    /// Silence from a point of the exchange on, until the client leaves or the server stops. What there is of a
    /// response is a 200 with more bytes than are sent.
    public static func stall(at point: BreakPoint) -> MockResponse { filler(for: point).stalling(at: point) }

    /// The connection is closed at a point of the exchange. What there is of a response is a 200 with more bytes than
    /// are sent.
    public static func close(at point: BreakPoint) -> MockResponse { filler(for: point).closing(at: point) }

    /// The connection is reset (a TCP RST) at a point of the exchange. What there is of a response is a 200 with more
    /// bytes than are sent.
    public static func reset(at point: BreakPoint) -> MockResponse { filler(for: point).resetting(at: point) }

    /// This response, with silence from a point on, until the client leaves or the server stops.
    public func stalling(at point: BreakPoint) -> MockResponse { with { $0.course = .broken(.stall, at: point) } }

    /// This response, with the connection closed at a point.
    public func closing(at point: BreakPoint) -> MockResponse { with { $0.course = .broken(.close, at: point) } }

    /// This response, with the connection reset (a TCP RST) at a point. What was sent before may be lost by that.
    public func resetting(at point: BreakPoint) -> MockResponse { with { $0.course = .broken(.reset, at: point) } }

    /// A 200 that announces more than `count` bytes, sends that many, and closes the connection.
    public static func truncated(after count: Int) -> MockResponse { close(at: .body(after: count)) }

    /// A 200 that announces more than `count` bytes, sends that many, and then nothing, until the client leaves or the
    /// server stops.
    public static func stalled(after count: Int) -> MockResponse { stall(at: .body(after: count)) }

    /// This response, with the connection closed after `count` bytes of its body; see ``BreakPoint/body(after:)``.
    public func truncated(after count: Int) -> MockResponse { closing(at: .body(after: count)) }

    /// This response, with silence after `count` bytes of its body, until the client leaves or the server stops; see
    /// ``BreakPoint/body(after:)``.
    public func stalled(after count: Int) -> MockResponse { stalling(at: .body(after: count)) }

    /// An error in place of an answer. A ``MockServer``, which has no errors to give, closes the connection without a
    /// byte.
    public static func failure(_ code: NetworkError.Code, reason: String? = nil) -> MockResponse {
        failure(NetworkError(code, reason: reason))
    }

    /// An error in place of an answer, as it is; see ``failure(_:reason:)``.
    public static func failure(_ error: NetworkError) -> MockResponse { MockResponse(course: .failure(error)) }

    private static func filler(for point: BreakPoint) -> MockResponse {
        var size = 1_024
        if case .body(let count) = point.place { size += count }
        return .data(Data(repeating: UInt8(ascii: "x"), count: size))
    }
}
