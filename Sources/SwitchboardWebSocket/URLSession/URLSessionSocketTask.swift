import Foundation
import Switchboard

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
