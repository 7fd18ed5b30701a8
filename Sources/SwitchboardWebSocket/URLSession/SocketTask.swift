import Foundation
import Switchboard

/// The part of `URLSessionWebSocketTask` that a ``FoundationSocket`` uses. Tests replace it.
///
/// The callbacks may come on any thread, more than once, or never.
package protocol SocketTask: Sendable {
    /// Starts the handshake. The socket gets the events of the session's delegate. `limit` is the largest message to
    /// receive, in bytes.
    func start(for socket: FoundationSocket, limit: Int)
    func send(_ message: WebSocketMessage, _ completion: @escaping @Sendable ((any Error)?) -> Void)
    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void)
    /// Sends a ping, and calls `completion` with its pong.
    func ping(_ completion: @escaping @Sendable ((any Error)?) -> Void)
    func close(_ code: UInt16, reason: Data)
    /// Ends the connection at once.
    func cancel()
}

/// A WebSocket of URLSession.
struct URLSessionSocketTask: SocketTask {
    let task: URLSessionWebSocketTask

    func start(for socket: FoundationSocket, limit: Int) {
        task.maximumMessageSize = limit
        task.resume()
    }

    func send(_ message: WebSocketMessage, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
        switch message {
        case .text(let text): task.send(.string(text), completionHandler: completion)
        case .binary(let data): task.send(.data(data), completionHandler: completion)
        }
    }

    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
        task.receive { result in
            completion(
                result.flatMap { message in
                    if case .string(let text) = message { return .success(.text(text)) }
                    if case .data(let data) = message { return .success(.binary(data)) }
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
