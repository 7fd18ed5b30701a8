import Foundation
import Switchboard

/// The part of `URLSessionWebSocketTask` that a ``FoundationSocket`` uses. Tests replace it.
///
/// The callbacks may come on any thread, more than once, or never.
package protocol SocketTask: Sendable {
    /// Starts the handshake. The socket gets the events of the session's delegate.
    ///
    /// - Parameters:
    ///   - socket: The socket of the task.
    ///   - limit: The largest message to receive, in bytes.
    func start(for socket: FoundationSocket, limit: Int)
    /// Sends a message.
    func send(_ payload: Data, isText: Bool, _ completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Receives one message.
    func receive(_ completion: @escaping @Sendable (Result<SocketEvent, any Error>) -> Void)
    /// Sends a ping, and calls `completion` with its pong.
    func ping(_ completion: @escaping @Sendable ((any Error)?) -> Void)
    /// Sends a Close frame.
    func close(_ code: UInt16, reason: Data)
    /// Ends the connection at once.
    func cancel()
}

/// A message or a control frame that a ``FoundationSocket`` sends or receives.
package enum SocketEvent: Sendable, Equatable {
    /// A whole message. The payload of a text is UTF-8.
    case message(Data, isText: Bool)
    /// A ping to send. The ``pong(_:)`` of its answer has the same payload.
    case ping(Data)
    /// The answer to a ping.
    case pong(Data)
    /// A Close frame. The code is nil if it has none.
    case close(UInt16?, reason: Data)
    /// A received message was larger than the limit, and is lost.
    case oversized
}

/// A WebSocket of URLSession.
struct URLSessionSocketTask: SocketTask {
    let task: URLSessionWebSocketTask

    func start(for socket: FoundationSocket, limit: Int) {
        task.maximumMessageSize = limit
        task.resume()
    }

    func send(_ payload: Data, isText: Bool, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
        task.send(
            isText ? .string(String(decoding: payload, as: UTF8.self)) : .data(payload), completionHandler: completion)
    }

    func receive(_ completion: @escaping @Sendable (Result<SocketEvent, any Error>) -> Void) {
        task.receive { result in
            completion(
                result.flatMap { message in
                    if case .string(let text) = message { return .success(.message(Data(text.utf8), isText: true)) }
                    if case .data(let data) = message { return .success(.message(data, isText: false)) }
                    return .failure(NetworkError(.invalidResponse, reason: "URLSession delivered an unknown message"))
                })
        }
    }

    func ping(_ completion: @escaping @Sendable ((any Error)?) -> Void) {
        task.sendPing(pongReceiveHandler: completion)
    }

    func close(_ code: UInt16, reason: Data) {
        // Foundation on Linux has no codes of applications.
        task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .normalClosure, reason: reason)
    }

    func cancel() {
        task.cancel()
    }
}
