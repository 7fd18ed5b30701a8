import Foundation
import Switchboard

/// Changes responses with a closure, before they are checked and decoded.
///
/// ```swift
/// ModifyResponse { response in
///     response.headers["Content-Type"] = "application/json"
/// }
/// ```
///
/// The closure must not return the response to another request: if its request has another `NetworkRequest.id`, the
/// call fails with `NetworkError.Code.invalidResponse`. A new response without a request is allowed.
public struct ModifyResponse: Interceptor, ExchangeInterceptor {
    private let change: @Sendable (inout NetworkResponse) async throws -> Void

    /// Creates the interceptor. The closure runs for each response, several times concurrently. An error that it throws
    /// ends the call.
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
