import Foundation

/// Sends endpoints. ``Router`` is the implementation, and tests can use a fake. Inject it as
/// `any NetworkRouter<MovieApi>`.
///
/// All other calls are extensions on these requirements: `response(for:)`, `request(_:as:)`, their completion forms,
/// streams, transfers and pages.
public protocol NetworkRouter<EndPoint>: Sendable {
    /// The type of the endpoints that the router sends.
    associatedtype EndPoint: EndPointType

    /// Makes a call and returns the response, whatever its status.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint.
    /// - Returns: The response.
    /// - Throws: ``NetworkError`` when the request could not be built or no complete response arrived;
    ///   `CancellationError` when the task or the router was canceled.
    func rawResponse(for endPoint: EndPoint, options: RequestOptions) async throws -> NetworkResponse

    /// Makes a call, changes its request before it is sent, and returns the response, whatever its status. Streams,
    /// transfers and pages need it. A fake that does not implement it sends the request unchanged.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint.
    ///   - accept: The `Accept` field for a request whose endpoint and task set none. Nil for the router's default.
    ///   - change: Changes the finished request before the interceptors receive it. An error that it throws ends the
    ///     call, and nothing is sent.
    /// - Returns: The response.
    /// - Throws: The errors of ``rawResponse(for:options:)``, and the error that `change` throws.
    func rawResponse(
        for endPoint: EndPoint, options: RequestOptions, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse

    /// Starts a call, transforms the response into a value, and calls back once.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - transform: Returns the value for a response. An error that it throws becomes the failure.
    ///   - completion: Called exactly once, never on the caller's stack. After a cancellation it receives
    ///     ``NetworkError/Code/cancelled``, even if the response had already arrived.
    /// - Returns: A handle that cancels only this call.
    func start<Value: Sendable>(
        _ endPoint: EndPoint, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle

    /// Cancels every call of this router that is in flight. Later calls are not affected.
    func cancel()
}

extension NetworkRouter {
    /// Makes a call and returns the response, whatever its status; see ``rawResponse(for:options:)``.
    public func rawResponse(for endPoint: EndPoint) async throws -> NetworkResponse {
        try await rawResponse(for: endPoint, options: RequestOptions())
    }

    /// Sends the request unchanged.
    public func rawResponse(
        for endPoint: EndPoint, options: RequestOptions, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse {
        try await rawResponse(for: endPoint, options: options)
    }

    /// Makes a call and calls back with data, response and error, whatever the status. This is the form of the
    /// published article.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - completion: Called exactly once. `data` is the body, empty for a response without one, and `response` its
    ///     head. Both are nil when no response arrived. `error` is a ``NetworkError`` when the request could not be
    ///     built or no complete response arrived. It is nil whenever the server answered, even with a 404.
    /// - Returns: A handle that cancels only this call.
    @discardableResult
    public func request(
        _ endPoint: EndPoint,
        completion: @escaping @Sendable (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void
    ) -> RequestHandle {
        start(endPoint, transform: { $0 }) { result in
            switch result {
            case .success(let response): completion(response.body, response.urlResponse, nil)
            case .failure(let error): completion(error.body, error.response?.urlResponse, error)
            }
        }
    }
}
