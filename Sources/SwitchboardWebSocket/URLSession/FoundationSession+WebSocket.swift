import Foundation
import Switchboard

extension FoundationSession {
    /// Opens a WebSocket. URLSession performs the handshake and hides the frames, so the response's bytes are frames made
    /// from its messages.
    static func openWebSocket(
        _ upgrade: ConnectionUpgrade, _ request: NetworkRequest, over session: FoundationSession
    ) async throws -> NetworkResponse {
        try await session.openWebSocket(upgrade, request) { urlSession, urlRequest, socket in
            let task = urlSession.webSocketTask(with: urlRequest)
            session.register(socket, for: task)
            return URLSessionSocketTask(task: task)
        }
    }

    /// Opens a WebSocket over the task that `make` returns.
    package func openWebSocket(
        _ upgrade: ConnectionUpgrade, _ request: NetworkRequest,
        make: (URLSession, URLRequest, FoundationSocket) -> any SocketTask
    ) async throws -> NetworkResponse {
        let handshake = upgrade.headers()
        guard !handshake.contains("Sec-WebSocket-Extensions") else {
            throw NetworkError(
                .unsupported, reason: "FoundationSession does not support webSocket.compression: URLSession chooses it")
        }
        var request = request
        for name in ["Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Key"] {
            request.headers.remove(name)
        }
        if let offer = handshake["Sec-WebSocket-Protocol"] { request.headers["Sec-WebSocket-Protocol"] = offer }
        let urlRequest = try URLRequest(request).asWebSocket
        let limit = request.options.webSocket.messageLimit
        let socket = FoundationSocket(request, deadlines)
        var response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard socket.begin(continuation) else { return }
                guard let task = makeTask({ make($0, urlRequest, socket) }) else {
                    return socket.fail(NetworkError(.sessionInvalidated))
                }
                socket.start(task, limit: limit)
            }
        } onCancel: {
            socket.cancel()
        }
        if response.statusCode == 101 {
            response.bytes = ResponseBytes(URLSessionFrames(socket, upgrade, limit: limit))
        }
        return response
    }
}

extension URLRequest {
    /// The same request with the scheme `ws` or `wss` in place of `http` or `https`.
    fileprivate var asWebSocket: URLRequest {
        var request = self
        let text = url?.absoluteString ?? ""
        if text.hasPrefix("http") { request.url = URL(string: "ws" + text.dropFirst(4)) }
        return request
    }
}
