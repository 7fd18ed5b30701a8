#if !canImport(FoundationNetworking)
import Foundation
import Switchboard

// On Apple's systems the request contains all fields and the body.
extension ProtocolRequest {
    /// Whether a stream may represent a body in memory, which can be sent again.
    static var streamsMayBeData: Bool { true }

    /// The fields that the session adds to each request. The request already has them.
    var additionalFields: [String: String] { [:] }

    /// The idle timeout of the request. Nil for the default.
    var timeout: TimeInterval? { urlRequest.timeoutInterval == 60 ? nil : urlRequest.timeoutInterval }

    /// The hosts whose redirects led the task across origins. Nil without any. Each redirect is a loading of its own,
    /// so the task carries them from one to the next.
    var redirectingHosts: [String]? {
        task.flatMap { objc_getAssociatedObject($0, Self.hostsKey) as? [String] }
    }

    /// An address that nothing else uses as a key.
    private static var hostsKey: UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(ProtocolClasses.shared).toOpaque())
    }

    /// No body: that of an upload task is a stream of its request. An upload without one is refused, so that it is not
    /// sent empty. A safe method is that of a redirect, such as 303.
    var uploadedBody: UploadedBody {
        get throws(NetworkError) {
            let isEmpty = urlRequest.value(forHTTPHeaderField: "Content-Length") == "0"
            if task is URLSessionUploadTask, !hasBody, !isEmpty, !urlRequest.method.isSafe { throw Self.hiddenUpload }
            return .none
        }
    }

    /// Returns a closure that reports sent bytes. Nil: a protocol cannot report them to URLSession.
    func reportOfSentBytes(of length: Int64?, to client: ProtocolClient) -> (@Sendable (Int64) -> Void)? { nil }

    /// Lets URLSession ask its delegate. Returns nil: if the redirect is followed, URLSession stops this loading and
    /// begins another one; otherwise the task ends with the response of the redirect. Throws for a refused redirect to
    /// http or https, which URLSession would follow.
    func follow(
        _ redirection: Result<NetworkRequest, NetworkError>, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> NetworkRequest? {
        guard let head = response.urlResponse, var request = try proposal(for: redirection, response) else {
            return try redirection.get()
        }
        if case .success(let next) = redirection {
            if next.body.isStreamed { request.httpBodyStream = urlRequest.httpBodyStream }
            let hops = next.crossOriginHops
            if let task, hops.count > 0 {
                objc_setAssociatedObject(task, Self.hostsKey, hops.hosts, .OBJC_ASSOCIATION_RETAIN)
            }
        } else if ["http", "https"].contains(request.url?.scheme?.lowercased()) {
            return try redirection.get()
        }
        client.wasRedirected(to: request, by: head)
        return nil
    }
}
#endif
