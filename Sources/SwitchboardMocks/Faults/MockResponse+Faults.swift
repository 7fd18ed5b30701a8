import Foundation
import Switchboard

extension MockResponse {
    /// Silence in place of an answer, until the client leaves or the server stops. A stub waits for the request's
    /// timeout or its cancellation.
    public static var stall: MockResponse { stall(at: .response) }

    /// The end of the connection without a byte. A stub throws ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var close: MockResponse { close(at: .response) }

    /// A reset of the connection (a TCP RST) without a byte. A stub throws
    /// ``/Switchboard/NetworkError/Code/connectionLost``.
    public static var reset: MockResponse { reset(at: .response) }

    /// Creates a response that falls silent at a point of the exchange, until the client leaves or the server stops.
    /// For a point in the response it is a 200 with more bytes than are sent.
    public static func stall(at point: BreakPoint) -> MockResponse { filler(for: point).stalling(at: point) }

    /// Creates a response that closes the connection at a point of the exchange. For a point in the response it is a
    /// 200 with more bytes than are sent.
    public static func close(at point: BreakPoint) -> MockResponse { filler(for: point).closing(at: point) }

    /// Creates a response that resets the connection (a TCP RST) at a point of the exchange. For a point in the
    /// response it is a 200 with more bytes than are sent.
    public static func reset(at point: BreakPoint) -> MockResponse { filler(for: point).resetting(at: point) }

    /// Returns this response with silence from a point on, until the client leaves or the server stops.
    public func stalling(at point: BreakPoint) -> MockResponse { with { $0.outcome = .broken(.stall, at: point) } }

    /// Returns this response with the connection closed at a point.
    public func closing(at point: BreakPoint) -> MockResponse { with { $0.outcome = .broken(.close, at: point) } }

    /// Returns this response with the connection reset (a TCP RST) at a point. The client may lose bytes sent before
    /// the reset.
    public func resetting(at point: BreakPoint) -> MockResponse { with { $0.outcome = .broken(.reset, at: point) } }

    /// Creates a 200 that announces more than `count` bytes, sends that many, at most 64 MiB, and closes the connection.
    public static func truncated(after count: Int) -> MockResponse { close(at: .body(after: count)) }

    /// Creates a 200 that announces more than `count` bytes, sends that many, at most 64 MiB, and then stays silent until
    /// the client leaves or the server stops.
    public static func stalled(after count: Int) -> MockResponse { stall(at: .body(after: count)) }

    /// Returns this response with the connection closed after `count` bytes of its body; see
    /// ``MockResponse/BreakPoint/body(after:)``.
    public func truncated(after count: Int) -> MockResponse { closing(at: .body(after: count)) }

    /// Returns this response with silence after `count` bytes of its body, until the client leaves or the server stops;
    /// see ``MockResponse/BreakPoint/body(after:)``.
    public func stalled(after count: Int) -> MockResponse { stalling(at: .body(after: count)) }

    /// Creates a response that fails with an error. A ``MockServer``, which cannot send an error, closes the connection
    /// without a byte.
    public static func failure(_ code: NetworkError.Code, reason: String? = nil) -> MockResponse {
        failure(NetworkError(code, reason: reason))
    }

    /// Creates a response that fails with this error, unchanged; see ``failure(_:reason:)``.
    public static func failure(_ error: NetworkError) -> MockResponse { MockResponse(outcome: .failure(error)) }

    private static func filler(for point: BreakPoint) -> MockResponse {
        var size = 1_024
        if case .body(let count) = point.location { size += min(count, 64 << 20) }
        return .data(Data(repeating: UInt8(ascii: "x"), count: size))
    }
}
