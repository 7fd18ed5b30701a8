import SwitchboardPlatform
import Dispatch
import Foundation

/// Hands URLSession's callbacks to the exchange they belong to.
///
/// One delegate for the whole session, told apart by task identifier: on Linux neither a task's own delegate nor the
/// async conveniences of URLSession report everything.
final class FoundationSessionDelegate: NSObject, URLSessionDataDelegate {
    private let exchanges = Protected<[Int: FoundationExchange]>([:])
    private static let answering = DispatchQueue(label: "Switchboard.FoundationSession.answering")

    func register(_ exchange: FoundationExchange, for task: URLSessionTask) {
        let identifier = task.taskIdentifier
        exchanges.withLock { $0[identifier] = exchange }
    }

    private func exchange(for task: URLSessionTask) -> FoundationExchange? {
        let identifier = task.taskIdentifier
        return exchanges.withLock { $0[identifier] }
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
        if URLSessionQuirks.isAboutTLS(challenge.protectionSpace.authenticationMethod) {
            completionHandler(.performDefaultHandling, nil)
        } else if URLSessionQuirks.challengesMustBeCancelled {
            exchange(for: task)?.noteDeclinedChallenge()
            // Not here: the answer calls back into the queue that this runs on, and waits for it.
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
        let exchange = exchanges.withLock { $0.removeValue(forKey: identifier) }
        // On Linux a redirect without a Location is never reported, and is found here alone.
        if error == nil, let response = task.response { exchange?.didReceiveUnreported(response) }
        exchange?.didComplete(with: error)
    }
}
