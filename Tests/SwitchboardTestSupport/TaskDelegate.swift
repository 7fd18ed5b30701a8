import Foundation
import Switchboard

/// Records what a URLSession reports to its delegate.
package final class TaskDelegate: NSObject, URLSessionDataDelegate {
    package let statuses = Deliveries<Int>()
    package let data = Deliveries<Data>()
    package let ends = Deliveries<URLError.Code?>()
    package let sent = Deliveries<[Int64]>()
    package let redirects = Deliveries<Int>()
    package let invalidations = Deliveries<Bool>()
    private let onData: @Sendable (Data) -> Void
    private let redirect: @Sendable (URLRequest) -> URLRequest?

    package init(
        onData: @escaping @Sendable (Data) -> Void = { _ in },
        redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }
    ) {
        self.onData = onData
        self.redirect = redirect
    }

    package func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        statuses.add((response as? HTTPURLResponse)?.statusCode ?? 0)
        completionHandler(.allow)
    }

    package func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        onData(data)
        self.data.add(data)
    }

    package func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalidations.add(error == nil)
    }

    package func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.add(error.map { ($0 as? URLError)?.code ?? .unknown })
    }

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.add([bytesSent, totalBytesSent, totalBytesExpectedToSend])
    }

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirects.add(response.statusCode)
        completionHandler(redirect(request))
    }

    package func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
}

extension URLSession {
    /// Returns the text at a URL.
    package func text(from url: URL) async throws -> String {
        String(decoding: try await data(from: url).0, as: UTF8.self)
    }
}

extension URLRequest {
    package init(_ method: String, _ url: URL, body: Data? = nil, headers: [String: String] = [:]) {
        self.init(url: url)
        httpMethod = method
        httpBody = body
        for (name, value) in headers { setValue(value, forHTTPHeaderField: name) }
    }
}
