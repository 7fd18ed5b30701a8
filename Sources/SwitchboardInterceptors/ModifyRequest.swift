import Foundation
import Switchboard

/// Changes requests with a closure.
///
/// ```swift
/// ModifyRequest { request in
///     request.headers["X-Trace"] = UUID().uuidString
/// }
/// ```
///
/// The closure must not replace the request: a request with another `NetworkRequest.id` fails with
/// `NetworkError.Code.invalidRequest`, and nothing is sent.
public struct ModifyRequest: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let change: @Sendable (inout NetworkRequest) async throws -> Void

    /// Creates the interceptor. The closure runs for each request, several times concurrently. An error that it throws
    /// ends the call.
    public init(_ change: @escaping @Sendable (inout NetworkRequest) async throws -> Void) {
        self.change = change
    }

    /// Changes a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        let changed = try await withOwnTask { [change, request] in
            var changed = request
            try await change(&changed)
            return changed
        }
        guard changed.id == request.id else {
            throw NetworkError(.invalidRequest, reason: "a ModifyRequest replaced the request with another")
        }
        request = changed
    }
}
