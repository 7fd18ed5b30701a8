#if !canImport(FoundationNetworking)
import Foundation
import Switchboard

// On Apple's systems the request contains all fields and the body.
extension ProtocolRequest {
    /// The fields that the session adds to each request. The request already has them.
    var additionalFields: [String: String] { [:] }

    var timeout: TimeInterval { urlRequest.timeoutInterval }

    /// The body of an upload task, which is part of the request.
    var uploadedBody: UploadedBody { .none }

    /// Lets URLSession follow the redirect and ask its delegate.
    func follow(
        _ redirection: NetworkRequest, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> Redirection {
        guard let head = response.urlResponse else { return .declined }
        client.wasRedirected(to: try URLRequest(redirection), by: head)
        return .bySystem
    }
}
#endif
