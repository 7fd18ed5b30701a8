import Foundation
import Switchboard

extension FoundationSession {
    /// Opens a WebSocket. URLSession performs the handshake and hides the frames.
    func openWebSocket(_ request: NetworkRequest) async throws -> (NetworkResponse, FoundationSocket) {
        let handshake = request.options.upgrade?.headers(request) ?? [:]
        guard !handshake.contains("Sec-WebSocket-Extensions") else {
            throw NetworkError(
                .unsupported, reason: "FoundationSession does not support webSocket.compression: URLSession chooses it")
        }
        var request = request
        for name in ["Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key"] {
            request.headers.remove(name)
        }
        if let offer = handshake["Sec-WebSocket-Protocol"] { request.headers["Sec-WebSocket-Protocol"] = offer }
        var urlRequest = try URLRequest(request)
        if let text = urlRequest.url?.absoluteString, text.hasPrefix("http") {
            urlRequest.url = URL(string: "ws" + text.dropFirst(4))
        }
        let socket = FoundationSocket(request, deadlines)
        let makeTask =
            request.options.makeSocketTask ?? { [self] urlSession, urlRequest in
                let task = urlSession.webSocketTask(with: urlRequest)
                register(socket, for: task)
                return URLSessionSocketTask(task: task)
            }
        let response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard socket.begin(continuation) else { return }
                guard let task = self.makeTask({ [urlRequest] in makeTask($0, urlRequest) }) else {
                    return socket.fail(NetworkError(.sessionInvalidated))
                }
                socket.start(task)
            }
        } onCancel: {
            socket.cancel()
        }
        return (response, socket)
    }
}

extension RequestOptions {
    /// Creates the task of a WebSocket over URLSession, in tests. Default nil: `URLSessionWebSocketTask`.
    package var makeSocketTask: (@Sendable (URLSession, URLRequest) -> any SocketTask)? {
        get { self[SocketTaskOption.self] }
        set { self[SocketTaskOption.self] = newValue }
    }
}

private enum SocketTaskOption: RequestOption {
    static let defaultValue: (@Sendable (URLSession, URLRequest) -> any SocketTask)? = nil
}
