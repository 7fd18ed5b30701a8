import Dispatch
import SwitchboardPlatform
import Foundation

/// Passes URLSession's callbacks to their exchanges.
///
/// One delegate serves the whole session and distinguishes tasks by their identifiers. On Linux, neither a task's
/// delegate nor the async methods of URLSession report everything.
final class FoundationSessionDelegate: NSObject, URLSessionDataDelegate {
    private let observers = Protected<[Int: any AnyObject & Sendable]>([:])
    private static let answering = DispatchQueue(label: "Switchboard.FoundationSession.answering")

    /// Sends the callbacks of a task to a ``FoundationExchange`` or a ``SocketObserver``.
    func register(_ observer: any AnyObject & Sendable, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        observers.withLock { $0[identifier] = observer }
    }

    private func observer(of task: URLSessionTask) -> (any AnyObject & Sendable)? {
        let identifier = task.taskIdentifier
        return observers.withLock { $0[identifier] }
    }

    private func socket(for task: URLSessionTask) -> (any SocketObserver)? {
        observer(of: task) as? any SocketObserver
    }

    private func exchange(for task: URLSessionTask) -> FoundationExchange? {
        observer(of: task) as? FoundationExchange
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let exchange = exchange(for: task) else { return completionHandler(nil) }
        exchange.decline(redirect: completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        if URLSessionQuirks.isAnsweredBySystem(challenge) {
            completionHandler(.performDefaultHandling, nil)
        } else if URLSessionQuirks.current.challengesMustBeCancelled {
            exchange(for: task)?.recordDeclinedChallenge()
            // The completion handler waits for the current queue, so it must run on another queue.
            Self.answering.async { completionHandler(.cancelAuthenticationChallenge, nil) }
        } else {
            completionHandler(.rejectProtectionSpace, nil)
        }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(exchange(for: task)?.makeBodyStream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(for: task)?.didSend(totalBytesSent)
    }

    // Apple's systems report interim responses here, and not as responses.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        exchange(for: task)?.recordActivity()
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(for: dataTask)?.didReceive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(for: dataTask)?.didReceive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let identifier = task.taskIdentifier
        let observer = observers.withLock { $0.removeValue(forKey: identifier) }
        (observer as? any SocketObserver)?.didComplete(with: error, task.response)
        guard let exchange = observer as? FoundationExchange else { return }
        // On Linux, a redirect without a Location is never reported. The response is only available here.
        if error == nil, let response = task.response { exchange.didReceiveUnreported(response) }
        exchange.didComplete(with: error)
    }
}

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

/// A WebSocket that receives the events of its task from the session's delegate.
package protocol SocketObserver: AnyObject, Sendable {
    /// Receives the end of the handshake. Foundation on Linux also reports a refused handshake as open.
    func didOpen(with subprotocol: String?, _ response: URLResponse?)
    /// Receives the code and the reason of the server's Close frame.
    func didClose(with code: Int, _ reason: Data?)
    /// Receives the end of the task, with its response if one arrived.
    func didComplete(with error: (any Error)?, _ response: URLResponse?)
}
