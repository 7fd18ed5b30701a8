import Foundation
import Switchboard

/// Changes requests by a closure.
///
/// ```swift
/// ModifyRequest { request in request.headers["X-Trace"] = UUID().uuidString }
/// ```
///
/// It stays the same request: one with another `NetworkRequest.id` in its place is `NetworkError.Code.invalidRequest`,
/// and nothing is sent.
public struct ModifyRequest: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let change: @Sendable (inout NetworkRequest) async throws -> Void

    /// Makes the interceptor. The closure runs for each request, several at a time; what it throws ends the call.
    public init(_ change: @escaping @Sendable (inout NetworkRequest) async throws -> Void) {
        self.change = change
    }

    /// Changes the request.
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
