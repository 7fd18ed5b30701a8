#if os(Linux)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardWebSocket

/// A fake of `URLSessionWebSocketTask` with the documented behavior of Apple's, over a `CurlSession`: URLSession on Linux
/// opens no WebSockets.
final class FakeSocketTask: SocketTask {
    private typealias Socket = WebSocket<WebSocketMessage, WebSocketMessage>

    private struct State {
        var socket: Socket?
        var events: FoundationSocket?
        var isComplete = false
        var work: Task<Void, Never>?
        var reading: Task<Void, Never>?
    }

    private let request: URLRequest
    private let state = Protected(State())

    init(_ request: URLRequest) { self.request = request }

    func start(for events: FoundationSocket, limit: Int) {
        state.withLock { state in
            state.events = events
            // Not in the call of the test, whose cancellation must reach the socket under test alone.
            state.work = Task.detached { await self.open(limit) }
        }
    }

    private func open(_ limit: Int) async {
        let url = request.url.flatMap { URL(string: "http" + $0.absoluteString.dropFirst(2)) }
        guard let url, request.url?.scheme == "ws" else { return complete(URLError(.unsupportedURL)) }
        var fields = HTTPHeaders()
        for (name, value) in request.allHTTPHeaderFields ?? [:] where value != " " { fields[name] = value }
        let offer = fields["Sec-WebSocket-Protocol"]
        fields.remove("Sec-WebSocket-Protocol")
        let options = RequestOptions {
            $0.webSocket.messageLimit = limit - 1
            $0.webSocket.subprotocols = offer?.components(separatedBy: ", ") ?? []
        }
        do {
            let router = Router<URLEndPoint>(session: CurlSession(), interceptors: [RedirectInterceptor.none])
            let socket = try await router.webSocket(for: URLEndPoint(.get, url, headers: fields), options: options)
            let isOver = state.withLock { state in
                if !state.isComplete { state.socket = socket }
                return state.isComplete
            }
            let response = HTTPURLResponse(url: url, statusCode: 101, httpVersion: nil, headerFields: [:])
            if !isOver { state.value.events?.didOpen(with: socket.subprotocol, response) }
        } catch let error as NetworkError {
            let fields = error.headers.map { Dictionary($0.map { ($0.name, $0.value) }) { one, _ in one } }
            let status = error.code == .unexpectedStatus ? 200 : error.statusCode
            let response = status.flatMap {
                HTTPURLResponse(url: url, statusCode: $0, httpVersion: nil, headerFields: fields)
            }
            complete(URLError(response == nil ? .cannotConnectToHost : .badServerResponse), response)
        } catch {
            complete(URLError(.cancelled))
        }
    }

    func send(_ message: WebSocketMessage, _ completion: @escaping @Sendable ((any Error)?) -> Void) {
        after { socket in
            do {
                try await socket.send(message)
                completion(nil)
            } catch {
                completion(POSIXError(.ENOTCONN))
            }
        }
    }

    func ping(_ completion: @escaping @Sendable ((any Error)?) -> Void) {
        after { socket in
            Task {
                do {
                    try await socket.ping()
                    completion(nil)
                    completion(POSIXError(.ECONNABORTED))
                } catch {
                    completion(POSIXError(.ENOTCONN))
                }
            }
        }
    }

    func close(_ code: UInt16, reason: Data) {
        after { socket in
            Task {
                await socket.close(WebSocketCloseCode(rawValue: code), reason: String(decoding: reason, as: UTF8.self))
            }
        }
    }

    /// Runs operations one after another.
    private func after(_ operation: @escaping @Sendable (Socket) async -> Void) {
        state.withLock { state in
            guard let socket = state.socket else { return }
            state.work = Task.detached { [before = state.work] in
                await before?.value
                await operation(socket)
            }
        }
    }

    /// Receives one message. The end is reported after the messages that were sent before it.
    func receive(_ completion: @escaping @Sendable (Result<WebSocketMessage, any Error>) -> Void) {
        guard let socket = state.value.socket else { return completion(.failure(POSIXError(.ENOTCONN))) }
        let reading = Task.detached { [self] in
            do {
                switch try await socket.receive() {
                case let message?: completion(.success(message))
                case nil:
                    await state.value.work?.value
                    completion(.failure(POSIXError(.ENOTCONN)))
                    if let end = socket.closure {
                        state.value.events?.didClose(with: Int(end.code.rawValue), Data(end.reason.utf8))
                    }
                    complete(nil)
                }
            } catch {
                await state.value.work?.value
                completion(.failure(POSIXError(socket.closure?.code == .messageTooBig ? .EMSGSIZE : .ENOTCONN)))
                complete(URLError(.networkConnectionLost))
            }
        }
        state.withLock { $0.reading = reading }
    }

    private func complete(_ error: (any Error)?, _ response: URLResponse? = nil) {
        let (events, tasks) = state.withLock { state in
            state.isComplete = true
            defer { (state.socket, state.events, state.reading) = (nil, nil, nil) }
            return (state.events, [state.work, state.reading])
        }
        events?.didComplete(with: error, response)
        for task in tasks { task?.cancel() }
    }

    func cancel() {
        complete(URLError(.cancelled))
    }
}
#endif
