import Dispatch
import Foundation

/// Sends endpoints: builds each request, sends it through the interceptors to the session, and returns the response.
///
/// ```swift
/// let router = Router<MovieApi>()
/// let page = try await router.request(
///     .popular(page: 1), as: MoviePage.self)
/// ```
///
/// Calls are independent and may be made from any thread. A ``RedirectInterceptor`` between `interceptors` and
/// `exchangeInterceptors` follows redirects, unless `interceptors` contains one.
public final class Router<EndPoint: EndPointType>: NetworkRouter {
    private let builder: RequestBuilder
    private let calls: RouterCalls

    /// Creates a router.
    ///
    /// - Parameters:
    ///   - session: The session that performs the exchanges. Default ``DefaultSession/shared``.
    ///   - interceptors: Interceptors that wrap each call, outermost first. Default none.
    ///   - exchangeInterceptors: Interceptors that wrap each exchange, behind redirects, outermost first. Default none.
    ///   - builder: Builds the requests. It holds the header fields and options for all of them.
    ///   - completionQueue: The queue that completions are called on, such as `.main` for user interfaces. Nil, the
    ///     default, for no specific queue.
    ///   - clock: The clock that measures ``Timeouts/total``.
    public convenience init(
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], builder: RequestBuilder = RequestBuilder(),
        completionQueue: DispatchQueue? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let chain = InterceptorChain(interceptors, exchangeInterceptors, session)
        self.init(builder, RouterCalls(chain, completionQueue, clock))
    }

    init(_ builder: RequestBuilder, _ calls: RouterCalls) {
        self.builder = builder
        self.calls = calls
    }

    /// Builds the request for an endpoint, as the interceptors will receive it. Sends nothing.
    ///
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest``.
    public func makeRequest(for endPoint: EndPoint) throws(NetworkError) -> NetworkRequest {
        try builder.makeRequest(for: endPoint)
    }

    /// Makes a call and returns the response, whatever its status; see ``NetworkRouter/rawResponse(for:options:)``.
    public func rawResponse(for endPoint: EndPoint, options: RequestOptions) async throws -> NetworkResponse {
        guard let environment = callEnvironment else {
            return try await calls.send(try request(for: endPoint, options))
        }
        return try await environment.run { try await calls.send(try request(for: endPoint, options)) }
    }

    /// Makes a call and changes its request before it is sent; see
    /// ``NetworkRouter/rawResponse(for:options:accept:changing:)``.
    public func rawResponse(
        for endPoint: EndPoint, options: RequestOptions, accept: String?,
        changing change: @Sendable (inout NetworkRequest) throws(NetworkError) -> Void
    ) async throws -> NetworkResponse {
        try await callEnvironment.run {
            var request = try request(for: endPoint, options, accept: accept)
            do throws(NetworkError) {
                try change(&request)
            } catch {
                throw error.attributed(to: request)
            }
            return try await calls.send(request)
        }
    }

    private func request(
        for endPoint: EndPoint, _ options: RequestOptions, accept: String? = nil
    ) throws(NetworkError) -> NetworkRequest {
        var builder = builder
        builder.callOptions = options
        if let accept { builder.headers["Accept"] = accept }
        return try builder.makeRequest(for: endPoint)
    }

    /// The environment of a call that begins now.
    var callEnvironment: CallEnvironment? { CallEnvironment(startingIn: builder.environment) }

    /// Starts a call, transforms the response into a value, and calls back once; see
    /// ``NetworkRouter/start(_:transform:completion:)``.
    public func start<Value: Sendable>(
        _ endPoint: EndPoint, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        // Built in the call's task: encoding a large body would block the caller, possibly the main thread.
        calls.start(
            in: callEnvironment,
            { [builder] () throws(NetworkError) in try builder.makeRequest(for: endPoint) }, transform, completion)
    }

    /// Cancels every call of this router that is in flight. Later calls are not affected.
    ///
    /// Exchanges are closed and waits between attempts end at once. An async call runs in its caller's task, which is
    /// not canceled: an interceptor that waits for something else continues to wait, and the call ends as canceled
    /// when it next sends. Calls with a completion and streams that are being read always end at once.
    public func cancel() {
        calls.cancelAll()
    }
}

extension Router {
    /// Cancels every call in flight and removes all state of the chain: tokens, cookies, stored responses, of every
    /// environment. Call it for a logout.
    ///
    /// It affects all routers over the same chain: a manager and its routers. Until it returns, new calls fail with
    /// ``NetworkError/Code/resetInProgress``, and a second reset waits for this one. An interceptor may call it during
    /// a call: that call is canceled, and the reset does not wait for it. The reset waits for all other calls, even if
    /// an interceptor of the app delays a call after its cancellation.
    public func reset() async {
        await calls.reset()
    }

    /// Returns the plan of a call and sends nothing: the request after each ``RequestAdapter``, the interceptors in the
    /// order in which they run, and warnings. An error that the call would fail with is part of the plan. A cache states
    /// what it would do with the request as the adapters before it left it.
    ///
    /// ```swift
    /// print(await router.explain(.newMovies(page: 1)))
    /// ```
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint of the call.
    ///   - options: The options of the call. They override those of the endpoint.
    /// - Returns: The plan.
    public func explain(_ endPoint: EndPoint, options: RequestOptions = RequestOptions()) async -> CallPlan {
        await callEnvironment.run {
            await calls.chain.plan(Result { () throws(NetworkError) in try request(for: endPoint, options) })
        }
    }
}

extension Router: CallHolder {
    func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        try await callEnvironment.run { try await calls.hold(operation) }
    }

    var retryPolicy: RetryPolicy? { calls.chain.retryPolicy }
}
