#if !canImport(FoundationNetworking)
import Foundation
import Switchboard

// On Apple's systems the request has it all.
extension ProtocolRequest {
    /// The fields that the session adds to each request: none that the request does not have.
    var additionalFields: [String: String] { [:] }

    var timeout: TimeInterval { urlRequest.timeoutInterval }

    /// The body of an upload task: the request's.
    var uploadedBody: UploadedBody { .none }

    /// Lets URLSession follow, which asks the delegate.
    func follow(
        _ redirection: NetworkRequest, _ response: NetworkResponse, _ client: ProtocolClient
    ) async throws -> Redirection {
        guard let head = response.urlResponse else { return .declined }
        client.wasRedirected(to: try URLRequest(redirection), by: head)
        return .bySystem
    }
}
#endif
