import Foundation
import Switchboard

/// Changes responses by a closure, before they are judged and decoded.
///
/// ```swift
/// ModifyResponse { response in response.headers["Content-Type"] = "application/json" }
/// ```
///
/// It stays the response to its request: one to a request with another `NetworkRequest.id` in its place is
/// `NetworkError.Code.invalidResponse`. One of the closure's own making is to no request yet, and may stand there.
public struct ModifyResponse: Interceptor, ExchangeInterceptor {
    private let change: @Sendable (inout NetworkResponse) async throws -> Void

    /// Makes the interceptor. The closure runs for each response, several at a time; what it throws ends the call.
    public init(_ change: @escaping @Sendable (inout NetworkResponse) async throws -> Void) {
        self.change = change
    }

    /// Sends the request and changes the response.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let response = try await next(request)
        let changed = try await withOwnTask { [change] in
            var changed = response
            try await change(&changed)
            return changed
        }
        try changed.checkAnswers(request, "ModifyResponse")
        return changed
    }
}

extension NetworkResponse {
    func checkAnswers(_ request: NetworkRequest, _ name: String) throws(NetworkError) {
        guard let answered = self.request, answered.id != request.id else { return }
        throw NetworkError(.invalidResponse, reason: "a \(name) replaced the response with that of another request")
    }
}
