import Foundation

/// What the published routers call when a request ends: once, with what arrived.
///
/// - Parameters:
///   - data: The body, empty for a response without one. Nil when no response arrived.
///   - response: The response's head, whatever its status. Nil when no response arrived.
///   - error: A ``NetworkError`` when the request could not be made or no complete response arrived. Nil whenever the
///     server answered, a 404 included.
public typealias NetworkRouterCompletion =
    @Sendable (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void

/// What turns an endpoint into an exchange: ``Router``, or a fake of yours. Inject it as `any NetworkRouter<MovieApi>`.
///
/// The calls that apps use stand on these: `response(for:)`, `request(_:as:)`, their completion forms, streams,
/// transfers and pages.
public protocol NetworkRouter<EndPoint>: Sendable {
    /// The endpoints that it takes.
    associatedtype EndPoint: EndPointType

    /// Performs the exchange and gives what the server answers, whatever its status.
    ///
    /// - Throws: ``NetworkError`` when the request could not be made or no complete response arrived;
    ///   `CancellationError` when the task or the router was cancelled.
    func exchange(_ endPoint: EndPoint) async throws -> NetworkResponse

    /// The same with options for this call, which win over those of its endpoint. A fake that lacks it sets them on the
    /// finished request.
    ///
    /// - Throws: What ``exchange(_:)`` throws.
    func exchange(_ endPoint: EndPoint, options: RequestOptions) async throws -> NetworkResponse

    /// The same for a request that is changed before it is sent: streams, transfers and pages need it. A fake that lacks
    /// it answers as if nothing had been changed.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - accept: The `Accept` of a request whose endpoint and task have none; nil for the router's own.
    ///   - change: Changes the finished request, before the interceptors see it. What it throws is thrown on, and
    ///     nothing is sent.
    /// - Returns: What the server answers, whatever its status.
    /// - Throws: What ``exchange(_:)`` throws.
    func exchange(
        _ endPoint: EndPoint, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse

    /// Performs the exchange, makes a value of the response, and calls back once.
    ///
    /// - Parameters:
    ///   - endPoint: What to ask for.
    ///   - transform: Makes the value. What it throws becomes the failure.
    ///   - completion: Called exactly once, on another stack than the caller's. After a cancellation it gets
    ///     ``NetworkError/Code/cancelled``, even when the response had arrived by then.
    /// - Returns: What cancels this request and no other.
    func perform<Value: Sendable>(
        _ endPoint: EndPoint, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle

    /// Cancels every request of this router that is under way. Later ones are not touched.
    func cancel()
}

extension NetworkRouter {
    /// The exchange, with the options set on the finished request.
    public func exchange(_ endPoint: EndPoint, options: RequestOptions) async throws -> NetworkResponse {
        try await exchange(endPoint, accept: nil) { $0.options = $0.options.merging(options) }
    }

    /// The exchange as it is, nothing changed.
    public func exchange(
        _ endPoint: EndPoint, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse {
        try await exchange(endPoint)
    }

    /// The exchange of a request that is changed, with options for this call; see ``exchange(_:options:)`` for a fake.
    package func exchange(
        _ endPoint: EndPoint, accept: String?, options: RequestOptions,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse {
        if let router = self as? Router<EndPoint> {
            return try await router.exchange(endPoint, accept, options, change)
        }
        return try await exchange(endPoint, accept: accept) { request throws(NetworkError) in
            request.options = request.options.merging(options)
            try change(&request)
        }
    }

    /// Performs a request in the published form: data, response and error, whatever the status.
    ///
    /// - Returns: What cancels this request and no other.
    @discardableResult
    public func request(_ endPoint: EndPoint, completion: @escaping NetworkRouterCompletion) -> RequestHandle {
        perform(endPoint, transform: { $0 }) { result in
            switch result {
            case .success(let response): completion(response.body, response.urlResponse, nil)
            case .failure(let error): completion(error.body, error.response?.urlResponse, error)
            }
        }
    }
}
