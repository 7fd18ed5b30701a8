import Foundation
import Switchboard

/// Changes the results of requests with a closure: a response into an error, or an error into a response.
///
/// ```swift
/// ModifyResult { result in
///     if case .failure(let error) = result,
///         error.code == .noInternetConnection
///     {
///         result = .success(response)
///     }
/// }
/// ```
///
/// Cancellations pass through. The response to another request fails with `NetworkError.Code.invalidResponse`.
public struct ModifyResult: Interceptor, ExchangeInterceptor {
    private let change: @Sendable (inout Result<NetworkResponse, NetworkError>) async throws -> Void

    /// Creates the interceptor. The closure runs for each result, several times concurrently. An error that it throws
    /// ends the call.
    public init(_ change: @escaping @Sendable (inout Result<NetworkResponse, NetworkError>) async throws -> Void) {
        self.change = change
    }

    /// Sends the request and changes the result.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let result: Result<NetworkResponse, NetworkError>
        do {
            result = .success(try await next(request))
        } catch {
            let failure = NetworkError.caught(error)
            guard failure.code != .cancelled else { throw error }
            result = .failure(failure.attributed(to: request))
        }
        let changed = try await withOwnTask { [change] in
            var changed = result
            try await change(&changed)
            return changed
        }
        let response = try changed.get()
        try response.checkAnswers(request, "ModifyResult")
        return response
    }
}
