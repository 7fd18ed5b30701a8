import Foundation
import Switchboard

/// Changes requests with a closure.
///
/// ```swift
/// RequestModifier { request in
///     request.headers["X-Trace"] = UUID().uuidString
/// }
/// ```
///
/// The closure must not replace the request: a request with another `NetworkRequest.id` fails with
/// `NetworkError.Code.invalidRequest`, and nothing is sent.
public struct RequestModifier: Interceptor, ExchangeInterceptor, RequestAdapter {
    private let change: @Sendable (inout NetworkRequest) async throws -> Void

    /// Creates the interceptor. The closure runs for each request, several times concurrently. An error that it throws
    /// ends the call.
    public init(_ change: @escaping @Sendable (inout NetworkRequest) async throws -> Void) {
        self.change = change
    }

    /// Changes a request.
    public func adapt(_ request: inout NetworkRequest) async throws {
        let changed = try await changed(request, by: change)
        guard changed.id == request.id else {
            throw NetworkError(
                .invalidRequest, reason: "a RequestModifier replaced the request: change the one that it receives")
        }
        request = changed
    }
}

/// Changes responses with a closure, before they are checked and decoded.
///
/// ```swift
/// ResponseModifier { response in
///     response.headers["Content-Type"] = "application/json"
/// }
/// ```
///
/// The closure must not return the response to another request: if its request has another `NetworkRequest.id`, the
/// call fails with `NetworkError.Code.invalidResponse`. A new response without a request is allowed.
public struct ResponseModifier: Interceptor, ExchangeInterceptor {
    private let change: @Sendable (inout NetworkResponse) async throws -> Void

    /// Creates the interceptor. The closure runs for each response, several times concurrently. An error that it throws
    /// ends the call.
    public init(_ change: @escaping @Sendable (inout NetworkResponse) async throws -> Void) {
        self.change = change
    }

    /// Sends the request and changes the response.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        let response = try await changed(next(request), by: change)
        try response.checkRequest(request, "ResponseModifier")
        return response
    }
}

extension NetworkResponse {
    /// Throws if the response is for another request.
    func checkRequest(_ request: NetworkRequest, _ name: String) throws(NetworkError) {
        guard let answered = self.request, answered.id != request.id else { return }
        throw NetworkError(.invalidResponse, reason: "a \(name) replaced the response with that of another request")
    }
}

/// Changes the results of requests with a closure: a response into an error, or an error into a response.
///
/// ```swift
/// ResultModifier { result in
///     if case .failure(let error) = result,
///         error.code == .noInternetConnection
///     {
///         result = .success(response)
///     }
/// }
/// ```
///
/// Cancellations pass through. The response to another request fails with `NetworkError.Code.invalidResponse`.
public struct ResultModifier: Interceptor, ExchangeInterceptor {
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
        let response = try await changed(result, by: change).get()
        try response.checkRequest(request, "ResultModifier")
        return response
    }
}
