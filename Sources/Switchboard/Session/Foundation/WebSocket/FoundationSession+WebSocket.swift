import Foundation

extension FoundationSession {
    /// Opens a WebSocket. URLSession makes the handshake and the frames, so the response's bytes are frames that the
    /// relay makes of messages.
    func open(_ upgrade: ConnectionUpgrade, of request: NetworkRequest) async throws -> NetworkResponse {
        guard let relay = upgrade.relay else {
            throw NetworkError(.unsupported, reason: "FoundationSession opens no connections of other protocols")
        }
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
        let urlRequest = try URLRequest(request, payload: nil).asWebSocket
        let socket = FoundationSocket(request, deadlines)
        var response = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard socket.begin(continuation) else { return }
                guard let task = makeSocketTask(urlRequest) else {
                    return socket.fail(NetworkError(.sessionInvalidated))
                }
                socket.start(task, limit: relay.messageLimit)
            }
        } onCancel: {
            socket.cancel()
        }
        if response.statusCode == 101 { response.stream = relay.start(socket, upgrade.outgoing()) }
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
