import Dispatch
import Foundation
import Switchboard

/// Tells the client of a URLProtocol what came, in order, and nothing more once it is stopped.
final class ProtocolClient: @unchecked Sendable {  // `urlProtocol` and `hasHead` are used under `lock` only
    #if canImport(FoundationNetworking)
    /// A completion handler gets the last piece of a body only, so all of it has to be one.
    static let takesPieces = false
    /// Where the session keeps its tasks, unlocked, and looks for them when it is told something.
    private let queue: DispatchQueue
    private static let lastQueue = DispatchQueue(label: "Switchboard.StubSession")
    #else
    static let takesPieces = true
    /// Where the loading was started, and where the client wants to hear of it.
    private let runLoop = RunLoop.current
    #endif

    /// Nil once it is over: the protocol has this client's owner.
    private var urlProtocol: URLProtocol?
    /// Held while the client is told, so that nothing is under way once `stop` returns. The client may stop meanwhile.
    private let lock = NSRecursiveLock()
    private var hasHead = false

    init(of urlProtocol: URLProtocol) {
        self.urlProtocol = urlProtocol
        #if canImport(FoundationNetworking)
        queue = urlProtocol.task?.workQueue ?? DispatchQueue(label: "Switchboard.StubSession.task")
        #endif
    }

    func stop() {
        lock.withLock { urlProtocol = nil }
    }

    /// False when there was a head already: then this one is ignored.
    @discardableResult
    func didReceive(_ head: HTTPURLResponse) -> Bool {
        let isFirst = lock.withLock {
            defer { hasHead = true }
            return !hasHead
        }
        guard isFirst else { return false }
        let head = head.withoutChallenge
        tell { $0.urlProtocol($1, didReceive: head, cacheStoragePolicy: .notAllowed) }
        return true
    }

    func didLoad(_ data: Data) {
        tell { $0.urlProtocol($1, didLoad: data) }
    }

    func didFinish() {
        tell(isLast: true) { client, urlProtocol in
            HTTPURLResponse.hidingChallenge { client.urlProtocolDidFinishLoading(urlProtocol) }
        }
    }

    func didFail(_ error: URLError) {
        tell(isLast: true) { $0.urlProtocol($1, didFailWithError: error) }
    }

    func wasRedirected(to request: URLRequest, by response: HTTPURLResponse) {
        tell(isLast: true) { client, urlProtocol in
            client.urlProtocol(urlProtocol, wasRedirectedTo: request, redirectResponse: response)
            // This loading is over; the system begins another one and ignores how this ended.
            client.urlProtocol(urlProtocol, didFailWithError: CocoaError(.userCancelled))
        }
    }

    private func tell(
        isLast: Bool = false, _ message: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void
    ) {
        #if canImport(FoundationNetworking)
        guard isLast else { return queue.async { self.tellNow(isLast, message) } }
        Self.lastQueue.async { self.queue.held { self.tellNow(isLast, message) } }
        #else
        runLoop.perform(inModes: [.common]) { self.tellNow(isLast, message) }
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
        #endif
    }

    private func tellNow(_ isLast: Bool, _ message: (any URLProtocolClient, URLProtocol) -> Void) {
        lock.withLock {
            guard let urlProtocol, let client = urlProtocol.client else { return }
            if isLast { self.urlProtocol = nil }
            message(client, urlProtocol)
        }
    }
}

#if canImport(FoundationNetworking)
extension DispatchQueue {
    /// Runs an operation while this queue does nothing, but not on it; called on another one.
    ///
    /// The end of a task belongs on its session's queue. There it resumes an `await` of URLSession's, which waits for a
    /// cancellation of the same task that is under way, which before Foundation 6.4 waits for this queue: so the queue is
    /// held for a moment only, long enough for the session to find its task.
    fileprivate func held(_ operation: () -> Void) {
        let isHeld = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)
        async {
            isHeld.signal()
            _ = isOver.wait(timeout: .now() + .milliseconds(100))
        }
        isHeld.wait()
        operation()
        isOver.signal()
    }
}

/// A 401 that URLSession does not take for a challenge.
///
/// It would wait for credentials that a stub has no use for, without an end, or send the request over the network. For
/// the challenge it looks at the response's URL, when the loading has finished and in the same call.
private final class UnchallengedResponse: HTTPURLResponse, @unchecked Sendable {  // never changes
    @TaskLocal static var isURLHidden = false

    override var url: URL? { Self.isURLHidden ? nil : super.url }
}

extension HTTPURLResponse {
    fileprivate var withoutChallenge: HTTPURLResponse {
        guard statusCode == 401, let url, let fields = allHeaderFields as? [String: String] else { return self }
        return UnchallengedResponse(url: url, statusCode: statusCode, httpVersion: nil, headerFields: fields) ?? self
    }

    fileprivate static func hidingChallenge(_ operation: () -> Void) {
        UnchallengedResponse.$isURLHidden.withValue(true, operation: operation)
    }
}
#else
extension HTTPURLResponse {
    fileprivate var withoutChallenge: HTTPURLResponse { self }

    fileprivate static func hidingChallenge(_ operation: () -> Void) {
        operation()
    }
}
#endif
