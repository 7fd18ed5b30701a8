#if canImport(FoundationNetworking)
import Dispatch
import Foundation
import Switchboard

// Outside Apple's systems a URLProtocol receives only a part of its task's data. Reflection reads the rest. If a later
// Foundation renames a property, requests fail with a reason instead of silently wrong results.
extension ProtocolRequest {
    /// The fields that the session adds to each request.
    var additionalFields: [String: String] {
        var fields: [String: String] = [:]
        for (name, value) in task?.ownSession?.configuration.httpAdditionalHeaders ?? [:] {
            fields["\(name)"] = "\(value)"
        }
        return fields
    }

    /// The idle timeout of the request or of its session.
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
        // Foundation's `==` ignores the fields of two requests, so the answer is always applied.
        return .byStub(redirection.changed(to: answer))
    }
}

extension URLSessionTask {
    /// The queue on which the session accepts messages about a loading.
    var workQueue: DispatchQueue? { member("workQueue") as? DispatchQueue }

    fileprivate var ownSession: URLSession? { member("session") as? URLSession }

    /// Returns a stored property by its name, or nil when it is nil or does not exist.
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
