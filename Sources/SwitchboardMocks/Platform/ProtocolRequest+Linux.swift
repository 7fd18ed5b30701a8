#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import Switchboard

// Outside Apple's systems a URLProtocol is not told everything about the task that it works for. The rest is read by
// reflection: when a later Foundation names it otherwise, requests fail with a reason, and none is wrong silently.
extension ProtocolRequest {
    /// The fields that the session adds to each request.
    var additionalFields: [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in task?.ownSession?.configuration.httpAdditionalHeaders ?? [:] {
            fields["\(name)"] = "\(value)"
        }
        return fields
    }

    /// What the request or its session allow.
    var timeout: TimeInterval {
        let standard = 60.0
        guard urlRequest.timeoutInterval == standard else { return urlRequest.timeoutInterval }
        return task?.ownSession?.configuration.timeoutIntervalForRequest ?? standard
    }

    /// The body of an upload task, which its request does not have.
    var uploadedBody: UploadedBody {
        get throws(NetworkError) {
            guard !(task is URLSessionDownloadTask) else {
                throw NetworkError(
                    .unsupported, reason: "Foundation lets no URLProtocol answer download tasks on this platform")
            }
            guard let task = task as? URLSessionUploadTask else { return .none }
            switch task.member("knownBody").flatMap({ Mirror(reflecting: $0).children.first?.value }) {
            case let data as DispatchData: return .data(Data(data))
            case let url as URL: return .file(url)
            case let stream as InputStream: return .stream(stream)
            default:
                throw NetworkError(
                    .unsupported,
                    reason: "Foundation does not show this upload's body to a URLProtocol on this platform")
            }
        }
    }

    /// Asks the delegate, as URLSession would.
    func follow(
        _ redirection: NetworkRequest, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> Redirection {
        guard let task, let session = task.ownSession, let delegate = task.delegate, let head = response.urlResponse
        else { return .byStub(redirection) }
        let proposed = try URLRequest(redirection)
        let answer: URLRequest? = await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation {
                delegate.urlSession(session, task: task, willPerformHTTPRedirection: head, newRequest: proposed) {
                    continuation.resume(returning: $0)
                }
            }
        }
        guard let answer else { return .declined }
        // Two requests are equal here whatever their fields.
        return .byStub(redirection.changed(to: answer))
    }
}

extension URLSessionTask {
    /// The queue on which the session may be told of what a protocol has loaded.
    var workQueue: DispatchQueue? { member("workQueue") as? DispatchQueue }

    fileprivate var ownSession: URLSession? { member("session") as? URLSession }

    /// A stored property by its name; nil when it is nil or there is none.
    fileprivate func member(_ name: String) -> Any? {
        var mirror: Mirror? = Mirror(reflecting: self)
        while let current = mirror {
            if let value = current.children.first(where: { $0.label == name })?.value {
                let content = Mirror(reflecting: value)
                return content.displayStyle == .optional ? content.children.first?.value : value
            }
            mirror = current.superclassMirror
        }
        return nil
    }
}
#endif
