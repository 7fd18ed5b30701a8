#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import Switchboard
import SwitchboardPlatform

// Outside Apple's systems a URLProtocol receives only a part of its task's data. Reflection reads the rest. If a later
// Foundation renames a property, requests fail with a reason instead of silently wrong results.
extension ProtocolRequest {
    /// Whether a stream may represent a body in memory. False: such a body arrives as data.
    static var streamsMayBeData: Bool { false }

    /// The fields that the session adds to each request.
    var additionalFields: [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in task?.ownSession?.configuration.httpAdditionalHeaders ?? [:] {
            fields["\(name)"] = "\(value)"
        }
        return fields
    }

    /// The idle timeout of the request or of its session. Nil for the default of both.
    var timeout: TimeInterval? {
        let standard = 60.0
        guard urlRequest.timeoutInterval == standard else { return urlRequest.timeoutInterval }
        let ofSession = task?.ownSession?.configuration.timeoutIntervalForRequest ?? standard
        return ofSession == standard ? nil : ofSession
    }

    /// The hosts whose redirects led the task across origins. Nil: all redirects belong to one loading.
    var redirectingHosts: [String]? { nil }

    /// The body of an upload task, or none for that of its request. Throws for a task that no protocol can answer.
    var uploadedBody: UploadedBody {
        get throws(NetworkError) {
            switch task {
            case is URLSessionDownloadTask:
                throw Self.unsupported(
                    "lets no URLProtocol answer download tasks", instead: "download of the router or the manager")
            case is URLSessionWebSocketTask:
                throw Self.unsupported("lets no URLProtocol open a WebSocket", instead: "webSocket of the router")
            default: break
            }
            guard let task = task as? URLSessionUploadTask else { return .none }
            switch member("knownBody", of: task).flatMap({ Mirror(reflecting: $0).children.first?.value }) {
            case let data as DispatchData: return .data(Data(data))
            case let url as URL: return .file(url)
            case let stream as InputStream: return .stream(stream)
            default: throw Self.hiddenUpload
            }
        }
    }

    /// Returns a closure that reports sent bytes to the delegate, as URLSession would. Nil without a delegate.
    func reportOfSentBytes(of length: Int64?, to client: ProtocolClient) -> (@Sendable (Int64) -> Void)? {
        guard let task, let session = task.ownSession, let delegate = client.uploadDelegate else { return nil }
        let reported = Protected<Int64>(0)
        // The request has the closure, and an error that a delegate stores has the request.
        return { [weak session, weak task, weak delegate] count in
            guard let session, let task, let delegate else { return }
            // A body that is sent again begins at zero.
            let last = reported.swap(count)
            session.delegateQueue.addOperation {
                delegate.urlSession(
                    session, task: task, didSendBodyData: count < last ? count : count - last, totalBytesSent: count,
                    totalBytesExpectedToSend: length ?? NSURLSessionTransferSizeUnknown)
            }
        }
    }

    /// Asks the delegate, as URLSession would. Returns the next request, or nil if the delegate declines it. Throws for
    /// a refused redirect that the delegate does not decline.
    func follow(
        _ redirection: Result<NetworkRequest, NetworkError>, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> NetworkRequest? {
        guard let task, let session = task.ownSession, let delegate = task.delegate, let head = response.urlResponse,
            let proposed = try proposal(for: redirection, response)
        else { return try redirection.get() }
        let (answers, continuation) = AsyncStream<URLRequest?>.makeStream()
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: head, newRequest: proposed) {
                continuation.yield($0)
                continuation.finish()
            }
        }
        var answer: URLRequest?
        for await request in answers { answer = request }
        try Task.checkCancellation()
        guard let answer else { return nil }
        // Foundation's `==` ignores the fields of two requests, so the answer is always applied.
        return try redirection.get().changed(to: answer)
    }
}

extension URLSessionTask {
    /// The queue on which the session accepts messages about a loading.
    var workQueue: DispatchQueue? { member("workQueue", of: self) as? DispatchQueue }

    var ownSession: URLSession? { member("session", of: self) as? URLSession }

    /// Whether the session's delegate receives the body in pieces. Otherwise the task has a completion handler, which
    /// receives only the last piece, or nothing receives it. Must be called on ``workQueue``.
    var deliversToDelegate: Bool {
        guard ownSession?.delegate is any URLSessionDataDelegate, let behaviour else { return false }
        // The cases with a completion handler have it as their child.
        return behaviour.children.isEmpty
    }

    /// The delegate of the call that created the task, or else of the task or its session. Must be called on
    /// ``workQueue``.
    var uploadDelegate: (any URLSessionTaskDelegate)? {
        guard let child = behaviour?.children.first else { return delegate }
        // The child of a call with a delegate is a tuple of a completion handler and the delegate.
        let own = Mirror(reflecting: child.value).children.compactMap { $0.value as? any URLSessionTaskDelegate }
        return own.first ?? delegate
    }

    /// The case of an enum that lists the receivers of the task's messages.
    private var behaviour: Mirror? {
        guard let session = ownSession, let registry = member("taskRegistry", of: session),
            let behaviours = member("behaviours", of: registry as AnyObject) as? any IntegerLookup
        else { return nil }
        return behaviours.value(for: taskIdentifier).map { Mirror(reflecting: $0) }
    }
}

/// Returns a stored property of an object by its name, or nil when it is nil or does not exist.
private func member(_ name: String, of object: AnyObject) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
        if let value = current.children.first(where: { $0.label == name })?.value {
            let content = Mirror(reflecting: value)
            return content.displayStyle == .optional ? content.children.first?.value : value
        }
        mirror = current.superclassMirror
    }
    return nil
}

/// A dictionary whose values have a type of another module.
private protocol IntegerLookup {
    func value(for key: Int) -> Any?
}

extension Dictionary: IntegerLookup where Key == Int {
    fileprivate func value(for key: Int) -> Any? { self[key] }
}
#endif
