import Foundation
import Switchboard
import SwitchboardTestSupport

/// Records what a URLSession reports to its delegate.
final class TaskDelegate: NSObject, URLSessionDataDelegate {
    let statuses = Deliveries<Int>()
    let data = Deliveries<Data>()
    let ends = Deliveries<URLError.Code?>()
    let sent = Deliveries<[Int64]>()
    let redirects = Deliveries<Int>()
    let invalidations = Deliveries<Bool>()
    private let onData: @Sendable (Data) -> Void
    private let redirect: @Sendable (URLRequest) -> URLRequest?

    init(
        onData: @escaping @Sendable (Data) -> Void = { _ in },
        redirect: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 }
    ) {
        self.onData = onData
        self.redirect = redirect
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        statuses.add((response as? HTTPURLResponse)?.statusCode ?? 0)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        onData(data)
        self.data.add(data)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalidations.add(error == nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.add((error as? URLError)?.code)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        sent.add([bytesSent, totalBytesSent, totalBytesExpectedToSend])
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        redirects.add(response.statusCode)
        completionHandler(redirect(request))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }
}

extension URLSession {
    /// Returns the text at a URL.
    func text(from url: URL) async throws -> String {
        String(decoding: try await data(from: url).0, as: UTF8.self)
    }
}

extension URLRequest {
    init(_ method: String, _ url: URL, body: Data? = nil, headers: [String: String] = [:]) {
        self.init(url: url)
        httpMethod = method
        httpBody = body
        for (name, value) in headers { setValue(value, forHTTPHeaderField: name) }
    }
}
