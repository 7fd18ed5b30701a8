import Foundation

extension FoundationSessionDelegate: URLSessionWebSocketDelegate {
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol subprotocol: String?
    ) {
        socket(for: webSocketTask)?.didOpen(with: subprotocol, webSocketTask.response)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
    ) {
        socket(for: webSocketTask)?.didClose(with: closeCode.rawValue, reason)
    }
}
