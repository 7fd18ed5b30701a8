import Foundation

/// Sends endpoints. ``Router`` is the implementation, and tests can use a fake. Inject it as
/// `any NetworkRouter<MovieApi>`, or `any NetworkRouter<MovieApi> & Sendable` where it crosses actors.
///
/// A router builds a request on the actor of the code that makes the call, and sends it elsewhere. All methods of a
/// call are extensions on these two requirements: `response(for:)`, `request(_:as:)`, their completion forms, streams,
/// transfers and pages.
public protocol NetworkRouter<EndPoint> {
    /// The type of the endpoints that the router sends.
    associatedtype EndPoint: EndPointType

    /// Reads an endpoint and returns its request. Sends nothing.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to read.
    ///   - options: Options for this call. They override those of its endpoint.
    /// - Returns: The request. If it has a body in memory, sending it encodes the body and adds the header fields of
    ///   the router.
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest``, or the ``NetworkError``
    ///   that the endpoint throws.
    func readRequest(for endPoint: EndPoint, options: RequestOptions) throws(NetworkError) -> NetworkRequest

    /// The calls of the router in flight, which are canceled together. It sends their requests.
    var calls: RouterCalls { get }
}

extension NetworkRouter {
    /// Makes a call and returns the response, whatever its status.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The response.
    /// - Throws: ``NetworkError`` when the request could not be built or no complete response arrived;
    ///   `CancellationError` when the task or the router was canceled.
    public func rawResponse(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> NetworkResponse {
        try await prepare(endPoint, options).send()
    }

    /// Makes a call and calls back with data, response and error, whatever the status, as in the article that
    /// <doc:Migrating> names.
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint to send.
    ///   - options: Options for this call. They override those of its endpoint. Default none.
    ///   - completion: Called exactly once. `data` is the body, empty for a response without one, and `response` its
    ///     head. Both are nil when no response arrived. `error` is a ``NetworkError`` when the request could not be
    ///     built or no complete response arrived. A status alone is never an error: `error` is nil for a complete 404.
    /// - Returns: A handle that cancels only this call.
    @discardableResult
    public func request(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        completion: @escaping @Sendable (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options).start(transform: { Transferred(try $0.whole()) }) { result in
            switch result {
            case .success(let response): completion(response.body, response.urlResponse, nil)
            case .failure(let error): completion(error.body, error.response?.urlResponse, error)
            }
        }
    }

    /// Makes a call and calls back on the main actor with data, response and error, whatever the status; see
    /// ``request(_:options:completion:)``.
    @discardableResult
    public func request(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), on actor: MainActor.Type,
        completion: @escaping @MainActor (_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> Void
    ) -> RequestHandle {
        prepare(endPoint, options).start(on: actor, transform: { Transferred(try $0.whole()) }) { result in
            switch result {
            case .success(let response): completion(response.body, response.urlResponse, nil)
            case .failure(let error): completion(error.body, error.response?.urlResponse, error)
            }
        }
    }

    /// Cancels every call of this router that is in flight. Later calls are not affected.
    ///
    /// Exchanges are closed and waits between attempts end at once. An async call runs in its caller's task, which is
    /// not canceled: an interceptor that waits for something else continues to wait, and the call ends as canceled when
    /// it next sends. The task of a call with a completion is canceled: the call ends at once if the code that it waits
    /// for observes that. Streams that are being read end at once.
    public func cancel() {
        calls.cancelAll()
    }
}

extension NetworkResponse {
    /// Returns the response. Throws if its body has yet to arrive.
    fileprivate func whole() throws(NetworkError) -> NetworkResponse {
        _ = try decode(Data.self)
        return self
    }
}
