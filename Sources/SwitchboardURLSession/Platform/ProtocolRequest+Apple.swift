#if !canImport(FoundationNetworking)
import Foundation
import Switchboard

// On Apple's systems the request contains all fields and the body.
extension ProtocolRequest {
    /// Whether a stream may stand for a body in memory, which can be sent again.
    static var streamsMayBeData: Bool { true }

    /// The fields that the session adds to each request. The request already has them.
    var additionalFields: [String: String] { [:] }

    /// The idle timeout of the request. Nil for the default.
    var timeout: TimeInterval? { urlRequest.timeoutInterval == 60 ? nil : urlRequest.timeoutInterval }

    /// The body of an upload task, which is part of the request.
    var uploadedBody: UploadedBody {
        get throws(NetworkError) { .none }
    }

    /// Returns a closure that reports sent bytes. Nil: a protocol cannot report them to URLSession.
    func reportOfSentBytes(of length: Int64?) -> (@Sendable (Int64) -> Void)? { nil }

    /// Lets URLSession follow the redirect and ask its delegate.
    func follow(
        _ redirection: NetworkRequest, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> Redirection {
        guard let head = response.urlResponse else { return .declined }
        var request = try URLRequest(redirecting: redirection)
        if redirection.body.isStreamed { request.httpBodyStream = urlRequest.httpBodyStream }
        client.wasRedirected(to: request, by: head)
        return .bySystem
    }
}
#endif
