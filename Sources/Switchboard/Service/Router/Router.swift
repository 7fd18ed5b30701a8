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
public final class Router<EndPoint: EndPointType>: NetworkRouter, Sendable {
    private let builder: RequestBuilder
    /// The calls of the router in flight, which are canceled together. It sends their requests.
    public let calls: RouterCalls

    /// Creates a router.
    ///
    /// - Parameters:
    ///   - session: The session that performs the exchanges. Default ``DefaultSession/shared``.
    ///   - interceptors: Interceptors that wrap each call, outermost first. Default none.
    ///   - exchangeInterceptors: Interceptors that wrap each exchange, after redirects, outermost first. Default none.
    ///   - headers: Header fields for every request. Those of endpoint, task and body override them.
    ///     `Accept: application/json` is added unless they contain an `Accept`.
    ///   - options: Timeouts, limits and options for every request. Those of the endpoint override them. Default none.
    ///   - monitors: Receive the events of calls; see ``EventMonitor``. Default none.
    ///   - decoder: Decodes bodies. Nil for the one in `options`.
    ///   - encoder: Encodes a ``JSONBody`` that has no encoder. Nil for the one in `options`.
    ///   - completionQueue: The queue that completions are called on. Nil, the default, selects no specific queue. For
    ///     user interfaces use `on: MainActor.self` of a call.
    ///   - clock: The clock that measures ``Timeouts/total``.
    public convenience init(
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions(), monitors: [any EventMonitor] = [],
        decoder: (any ResponseDecoder)? = nil, encoder: (any RequestEncoder)? = nil,
        completionQueue: DispatchQueue? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        let chain = InterceptorChain(interceptors, exchangeInterceptors, session)
        self.init(
            RequestBuilder(headers, options, monitors, decoder, encoder), RouterCalls(chain, completionQueue, clock))
    }

    init(_ builder: RequestBuilder, _ calls: RouterCalls) {
        self.builder = builder
        self.calls = calls
    }

    /// Returns a router for URLs that may come from a server. Its calls belong to this router.
    package func urlRouter() -> Router<URLEndPoint> {
        var builder = builder
        builder.trustsURLs = false
        return Router<URLEndPoint>(builder, calls)
    }

    /// Builds the request for an endpoint, as the interceptors will receive it. Sends nothing.
    ///
    /// - Throws: ``NetworkError`` with a code of the kind ``NetworkError/Code/invalidRequest``, or the ``NetworkError``
    ///   that the endpoint or its body throws, such as ``NetworkError/Code/unsupported`` for a compressed body without
    ///   zlib.
    public func makeRequest(
        for endPoint: EndPoint, options: RequestOptions = RequestOptions()
    ) throws(NetworkError) -> NetworkRequest {
        try builder.makeRequest(for: endPoint, options: options)
    }

    /// Reads an endpoint; see ``NetworkRouter/readRequest(for:options:)``.
    public func readRequest(for endPoint: EndPoint, options: RequestOptions) throws(NetworkError) -> NetworkRequest {
        try builder.readRequest(for: endPoint, options: options)
    }
}

extension Router {
    /// Cancels every call in flight and removes all state of the chain: tokens, cookies, stored responses, of every
    /// environment. Call it for a logout.
    ///
    /// It affects all routers over the same chain: a manager and its routers. Until it returns, new calls fail with
    /// ``NetworkError/Code/resetInProgress``, and a second reset waits for this one, unless its task or call is
    /// canceled. An interceptor, or a closure of a started `NetworkCall`, may call it during a call: that call is
    /// canceled, and the reset does not wait for it.
    /// The reset waits for all other calls, even if an interceptor of the app delays a call after its cancellation.
    public func reset() async {
        await calls.reset()
    }

    /// Returns the plan of a call and sends nothing: the request after each ``RequestAdapter``, the interceptors in the
    /// order in which they run, and warnings. An error of the endpoint, of an adapter or of the request itself is part of
    /// the plan; one of another interceptor or of the session is not. A cache explains its decision about the request.
    /// The plan of a ``TypedEndPoint`` is that of a call that decodes its response.
    ///
    /// ```swift
    /// print(await router.explain(.newMovies(page: 1)))
    /// ```
    ///
    /// - Parameters:
    ///   - endPoint: The endpoint of the call.
    ///   - options: The options of the call. They override those of the endpoint.
    ///   - isolation: The actor on which the endpoint is read: the caller's.
    /// - Returns: The plan.
    public func explain(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(), isolation: isolated (any Actor)? = #isolation
    ) async -> CallPlan {
        guard let type = EndPoint.self as? any TypedEndPoint.Type else {
            return await prepare(endPoint, options).plan()
        }
        return await prepare(endPoint, options, for: type.responseType).plan()
    }
}
