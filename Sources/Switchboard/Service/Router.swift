import Dispatch
import Foundation

/// Turns an endpoint into an exchange: builds the request, sends it through the interceptors, and hands back what came.
///
/// ```swift
/// let router = Router<MovieApi>()
/// let page = try await router.request(.popular(page: 1), as: MoviePage.self)
/// ```
///
/// Each call is independent and may be made from any thread. Redirects are followed by a ``RedirectInterceptor`` between
/// `interceptors` and `exchangeInterceptors`, unless one of the former is one.
public final class Router<EndPoint: EndPointType>: NetworkRouter {
    private let builder: RequestBuilder
    private let calls: RouterCalls

    /// Makes a router.
    ///
    /// - Parameters:
    ///   - session: What performs the exchanges. Default ``DefaultSession/shared``.
    ///   - interceptors: What wraps each call, outermost first. Default none.
    ///   - exchangeInterceptors: What wraps each exchange, behind redirects, outermost first. Default none.
    ///   - builder: Header fields and options for every request.
    ///   - completionQueue: Where completions are called. Nil, the default, for no queue in particular; `.main` for
    ///     user interfaces.
    ///   - clock: What ``Timeouts/total`` is measured by.
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

    /// The request for an endpoint, as the interceptors will see it. Sends nothing.
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

    /// Makes a call whose request is changed before it is sent; see
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

    /// The environment of a call that begins at this moment.
    var callEnvironment: CallEnvironment? { CallEnvironment(startingIn: builder.environment) }

    /// Starts a call, makes a value of the response, and calls back once; see
    /// ``NetworkRouter/start(_:transform:completion:)``.
    public func start<Value: Sendable>(
        _ endPoint: EndPoint, transform: @escaping @Sendable (NetworkResponse) throws -> Value,
        completion: @escaping @Sendable (Result<Value, NetworkError>) -> Void
    ) -> RequestHandle {
        // Made in the call's own task: encoding a large body would hold up the caller, who may be the main thread.
        calls.start(
            in: callEnvironment,
            { [builder] () throws(NetworkError) in try builder.makeRequest(for: endPoint) }, transform, completion)
    }

    /// Cancels every request of this router that is under way. Later ones are not touched.
    ///
    /// Exchanges are closed and waits between attempts end at once. An async call runs in its caller's task, which is
    /// not cancelled: an interceptor that waits for something of its own is not woken, and the call ends as cancelled
    /// when it next sends. Calls with a completion end at once in any case, and so do streams that are being read.
    public func cancel() {
        calls.cancelAll()
    }
}

extension Router {
    /// Ends every call under way as cancelled, and wipes what the chain holds: tokens, cookies, stored responses, of every
    /// environment. For a logout.
    ///
    /// It reaches all routers over the same chain: those of a manager, and the manager. Until it returns, new calls fail
    /// with ``NetworkError/Code/resetInProgress``; a reset that is asked for meanwhile waits for this one. An interceptor
    /// may ask for it within a call: that call is cancelled and not waited for. What else holds on to a call after its
    /// cancellation, in an interceptor of an app for instance, holds up the reset too.
    public func reset() async {
        await calls.reset()
    }

    /// Says what a call would do, and sends nothing: the request as each ``RequestAdapter`` changes it, the interceptors in
    /// the order in which they run, and what may surprise. An error that the call would have is part of the plan.
    ///
    /// ```swift
    /// print(await router.explain(.newMovies(page: 1)))
    /// ```
    public func explain(_ endPoint: EndPoint) async -> CallPlan {
        await callEnvironment.run {
            await calls.chain.plan(Result { () throws(NetworkError) in try makeRequest(for: endPoint) })
        }
    }
}

extension Router: CallHolder {
    func hold<Output: Sendable>(_ operation: @Sendable () async throws -> Output) async throws -> Output {
        try await callEnvironment.run { try await calls.hold(operation) }
    }

    var retryPolicy: RetryPolicy? { calls.chain.retryPolicy }
}
