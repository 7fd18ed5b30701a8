import Foundation

/// Sends endpoints: ``Router``, or a fake of yours. Inject it as `any NetworkRouter<MovieApi>`.
///
/// The calls that apps use stand on these: `response(for:)`, `request(_:as:)`, their completion forms, streams,
/// transfers and pages.
public protocol NetworkRouter<EndPoint>: Sendable {
    /// The endpoints that it takes.
    associatedtype EndPoint: EndPointType

    /// Makes a call and returns the response, whatever its status.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - options: Options for this call, which win over those of its endpoint.
    /// - Returns: The response.
    /// - Throws: ``NetworkError`` when the request could not be made or no complete response arrived;
    ///   `CancellationError` when the task or the router was cancelled.
    func rawResponse(for endPoint: EndPoint, options: RequestOptions) async throws -> NetworkResponse

    /// Makes a call whose request is changed before it is sent, and returns the response, whatever its status. Streams,
    /// transfers and pages need it. A fake that lacks it sends the request unchanged.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - options: Options for this call, which win over those of its endpoint.
    ///   - accept: The `Accept` of a request whose endpoint and task have none; nil for the router's own.
    ///   - change: Changes the finished request, before the interceptors see it. What it throws is thrown on, and
    ///     nothing is sent.
    /// - Returns: The response.
    /// - Throws: What ``rawResponse(for:options:)`` throws.
    func rawResponse(
        for endPoint: EndPoint, options: RequestOptions, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse

    /// Starts a call, makes a value of the response, and calls back once.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - transform: Makes the value. What it throws becomes the failure.
    ///   - completion: Called exactly once, on another stack than the caller's. After a cancellation it gets
    ///     ``NetworkError/Code/cancelled``, even when the response had arrived by then.
    /// - Returns: What cancels this call and no other.
    func start<Value: Sendable>(
        _ endPoint: EndPoint, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle

    /// Cancels every call of this router that is in flight. Later ones are not touched.
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

    /// Makes a call in the published form: data, response and error, whatever the status.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - completion: Called exactly once. `data` is the body, empty for a response without one, and `response` its head;
    ///     both are nil when no response arrived. `error` is a ``NetworkError`` when the request could not be made or no
    ///     complete response arrived, and nil whenever the server answered, a 404 included.
    /// - Returns: What cancels this call and no other.
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
