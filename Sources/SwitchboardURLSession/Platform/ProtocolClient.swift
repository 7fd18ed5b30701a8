import Dispatch
import Foundation
import Switchboard

/// Delivers a response to the client of a URLProtocol, in order, and nothing after `stop`.
final class ProtocolClient: @unchecked Sendable {  // its variables are used under `lock` only
    #if canImport(FoundationNetworking)
    /// Whether Foundation also starts a loading for a canceled or suspended task, which needs none, and stops that of a
    /// running one.
    static let startsStoppedTasks = true
    /// The queue on which the session stores its tasks, without a lock, and looks them up for each message.
    private let queue: DispatchQueue
    private static let lastQueue = DispatchQueue(label: "Switchboard.URLSession")
    /// The delegate that receives the progress of an upload. Nil for a request without a body.
    let uploadDelegate: (any URLSessionTaskDelegate)?
    #else
    static let startsStoppedTasks = false
    /// The run loop that started the loading, on which the client expects its messages.
    private let runLoop = RunLoop.current
    #endif
    let takesPieces: Bool
    /// The queue on which the delegate receives the pieces. Nil if it is unknown.
    private let delegateQueue: OperationQueue?

    /// The protocol. Nil after the end, because the protocol retains this client's owner.
    private var urlProtocol: URLProtocol?
    /// Locked during each message, so that none is in flight after `stop`. Recursive, because the client may call
    /// `stop` during a message.
    private let lock = NSRecursiveLock()
    private var hasHead = false
    /// Whether the client has received the last message.
    private var isOver = false

    init(of urlProtocol: URLProtocol) {
        self.urlProtocol = urlProtocol
        #if canImport(FoundationNetworking)
        queue = urlProtocol.task?.workQueue ?? DispatchQueue(label: "Switchboard.URLSession.task")
        takesPieces = urlProtocol.task?.deliversToDelegate ?? false
        delegateQueue = takesPieces ? urlProtocol.task?.ownSession?.delegateQueue : nil
        let hasBody = ProtocolRequest(urlRequest: urlProtocol.request, task: urlProtocol.task).hasBody
        let isUpload = hasBody || urlProtocol.task is URLSessionUploadTask
        uploadDelegate = isUpload ? urlProtocol.task?.uploadDelegate : nil
        #else
        takesPieces = true
        delegateQueue = nil
        #endif
    }

    /// Ends the messages. Returns false if the last one was delivered before.
    func stop() -> Bool {
        lock.withLock {
            urlProtocol = nil
            return !isOver
        }
    }

    /// Delivers the head. Returns false for a second head, which is ignored.
    @discardableResult
    func didReceive(_ head: HTTPURLResponse) -> Bool {
        let isFirst = lock.withLock {
            defer { hasHead = true }
            return !hasHead
        }
        guard isFirst else { return false }
        let head = head.withoutChallenge
        send { $0.urlProtocol($1, didReceive: head, cacheStoragePolicy: .notAllowed) }
        return true
    }

    /// Delivers a piece of the body, and waits until the delegate has received it, so that pieces do not pile up.
    func didLoad(_ data: Data) async {
        let (delivered, continuation) = AsyncStream<Never>.makeStream()
        enqueue(data) { [delegateQueue] in
            guard let delegateQueue else { return continuation.finish() }
            delegateQueue.addOperation { continuation.finish() }
        }
        // Ends also when the task is canceled, as after `stop`.
        for await _ in delivered {}
    }

    /// Delivers a piece of the body.
    func enqueue(_ data: Data, didSend: @escaping @Sendable () -> Void = {}) {
        send { client, urlProtocol in
            client.urlProtocol(urlProtocol, didLoad: data)
            didSend()
        }
    }

    func didFinish() {
        send(isLast: true) { client, urlProtocol in
            HTTPURLResponse.hidingChallenge { client.urlProtocolDidFinishLoading(urlProtocol) }
        }
    }

    func didFail(_ error: URLError) {
        send(isLast: true) { $0.urlProtocol($1, didFailWithError: error) }
    }

    func wasRedirected(to request: URLRequest, by response: HTTPURLResponse) {
        send { $0.urlProtocol($1, wasRedirectedTo: request, redirectResponse: response) }
    }

    private func send(
        isLast: Bool = false, _ message: @escaping @Sendable (any URLProtocolClient, URLProtocol) -> Void
    ) {
        #if canImport(FoundationNetworking)
        guard isLast else { return queue.async { self.sendNow(isLast, message) } }
        Self.lastQueue.async { self.queue.whileBlocked { self.sendNow(isLast, message) } }
        #else
        runLoop.perform(inModes: [.common]) { self.sendNow(isLast, message) }
        CFRunLoopWakeUp(runLoop.getCFRunLoop())
        #endif
    }

    private func sendNow(_ isLast: Bool, _ message: (any URLProtocolClient, URLProtocol) -> Void) {
        lock.withLock {
            guard let urlProtocol, let client = urlProtocol.client else { return }
            if isLast {
                self.urlProtocol = nil
                isOver = true
            }
            message(client, urlProtocol)
        }
    }
}

#if canImport(FoundationNetworking)
extension DispatchQueue {
    /// Runs an operation on the calling thread while this queue is blocked. Must be called from another queue.
    ///
    /// A task must end on its session's queue. There it resumes an `await` in URLSession, which waits for a
    /// cancellation of the same task in flight. Before Foundation 6.4, that cancellation waits for this queue. The
    /// queue is therefore blocked only until the session has found its task.
    fileprivate func whileBlocked(_ operation: () -> Void) {
        let isBlocked = DispatchSemaphore(value: 0)
        let isOver = DispatchSemaphore(value: 0)
        async {
            isBlocked.signal()
            _ = isOver.wait(timeout: .now() + .milliseconds(100))
        }
        isBlocked.wait()
        operation()
        isOver.signal()
    }
}

/// A 401 response that URLSession does not treat as a challenge.
///
/// URLSession would wait without end for credentials, or send the request over the network.
/// To detect a challenge it reads the response's URL when the loading has finished, in the same call.
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

/// Retains the owner of a configuration while the configuration exists, as its cache. It caches nothing.
final class OwnerRetainer: URLCache, @unchecked Sendable {  // the owner is Sendable and never changes
    private let owner: any AnyObject & Sendable

    init(_ owner: any AnyObject & Sendable) {
        self.owner = owner
        // Newer SDKs of Apple declare `init(memoryCapacity:diskCapacity:directory:)` as a convenience initializer,
        // which traps for a subclass. The compiler does not report that.
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: nil)
    }

    // Foundation would read and remove the responses of the app's own cache, because the path is nil.
    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? { nil }
    override func removeCachedResponse(for request: URLRequest) {}
    override func removeCachedResponses(since date: Date) {}
    override func removeAllCachedResponses() {}

    #if canImport(FoundationNetworking)
    /// Answers at once. Foundation would answer on the process's queue for background work, which may be busy.
    override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        completionHandler(nil)
    }
    #endif
}
