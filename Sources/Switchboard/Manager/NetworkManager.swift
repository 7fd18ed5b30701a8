import SwitchboardPlatform
import Dispatch
import Foundation

/// A client of an API: its environment, session, interceptors and coders. It creates routers and sends typed endpoints.
///
/// ```swift
/// let manager = NetworkManager(
///     environment: .staging,
///     interceptors: [NetworkLogger(), RetryPolicy()])
/// let movies = manager.router(for: MovieApi.self)
/// // Requests in flight stay in staging.
/// manager.environment = .production
/// ```
///
/// Credentials, `CommonHeaders` and `CommonParameters` are sent to the origins of ``servers`` and of the endpoints' own
/// base URLs. A single URL may come from a response, so it gets them only at the origin of the environment's server.
/// Elsewhere it gets only harmless fields of `headers`. This applies to ``URLEndPoint``, ``data(from:options:)`` and
/// ``download(from:to:keepingPartial:options:progress:verify:)``. In a manager without servers the last two get none,
/// and a ``URLEndPoint`` is treated like other endpoints. `origins` of the interceptors changes this.
///
/// Managers are independent of each other. A form of call that the manager lacks, such as `rawResponse` or `pages`, is
/// a function of ``router(for:)``. Apps extend the type with the calls of their domain:
///
/// ```swift
/// extension NetworkManager {
///     func newMovies(page: Int) async throws -> [Movie] {
///         let movies = router(for: MovieApi.self)
///         let found = try await movies.request(
///             .newMovies(page: page), as: MoviePage.self)
///         return found.results
///     }
/// }
/// ```
public final class NetworkManager: Sendable {
    /// The base URLs of endpoints that use ``ManagerBaseURL``. Nil when the manager has none.
    public let servers: EnvironmentURLs?
    private let builder: RequestBuilder
    private let calls: RouterCalls
    private let current: Protected<NetworkEnvironment>

    /// Creates a manager.
    ///
    /// - Parameters:
    ///   - environment: The environment of the requests. Default ``NetworkEnvironment/current``, read once, now.
    ///   - servers: The base URLs of endpoints that use ``ManagerBaseURL``. Default none.
    ///   - session: The session that performs the exchanges. Default ``DefaultSession/shared``.
    ///   - interceptors: Interceptors that wrap each call, outermost first. Default none.
    ///   - exchangeInterceptors: Interceptors that wrap each exchange, after redirects, outermost first. Default none.
    ///   - headers: Header fields for every request. Those of endpoint, task and body override them.
    ///     `Accept: application/json` is added unless they contain an `Accept`.
    ///   - options: Timeouts, limits and options for every request. Those of the endpoint override them. Default none.
    ///   - monitors: Receive the events of calls; see ``EventMonitor``. Default none.
    ///   - decoder: Decodes bodies. Nil for the one in `options`.
    ///   - encoder: Encodes a ``JSONBody`` that has no encoder. Nil for the one in `options`.
    ///   - completionQueue: The queue that completions are called on. Nil, the default, for no specific queue.
    ///   - clock: The clock that measures ``Timeouts/total``.
    public init(
        environment: NetworkEnvironment = .current, servers: EnvironmentURLs? = nil,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions(), monitors: [any EventMonitor] = [],
        decoder: (any ResponseDecoder)? = nil, encoder: (any RequestEncoder)? = nil,
        completionQueue: DispatchQueue? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        let current = Protected(environment)
        var builder = RequestBuilder(headers, options, monitors, decoder, encoder)
        if let servers {
            builder.baseURL = { try servers.url(in: .current) }
            builder.trustsURLs = false
        }
        builder.environment = current
        self.servers = servers
        self.builder = builder
        self.current = current
        calls = RouterCalls(
            InterceptorChain(interceptors, exchangeInterceptors, session), completionQueue, clock, in: current)
    }

    /// Creates a manager for an API with one base URL, which serves every environment. The other parameters are those
    /// of the manager with `servers`.
    ///
    /// ```swift
    /// let manager = NetworkManager(baseURL: "https://api.example.com/3")
    /// let todo = try await manager.request(.get("todos/1"), as: Todo.self)
    /// ```
    public convenience init(
        baseURL: String, environment: NetworkEnvironment = .current,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions(), monitors: [any EventMonitor] = [],
        decoder: (any ResponseDecoder)? = nil, encoder: (any RequestEncoder)? = nil,
        completionQueue: DispatchQueue? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            environment: environment, servers: EnvironmentURLs(everywhere: baseURL), session: session,
            interceptors: interceptors, exchangeInterceptors: exchangeInterceptors, headers: headers, options: options,
            monitors: monitors, decoder: decoder, encoder: encoder, completionQueue: completionQueue, clock: clock)
    }

    /// Creates a manager for an API with one base URL, such as that of a mock server.
    public convenience init(
        baseURL: URL, environment: NetworkEnvironment = .current,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions(), monitors: [any EventMonitor] = [],
        decoder: (any ResponseDecoder)? = nil, encoder: (any RequestEncoder)? = nil,
        completionQueue: DispatchQueue? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(
            baseURL: baseURL.absoluteString, environment: environment, session: session, interceptors: interceptors,
            exchangeInterceptors: exchangeInterceptors, headers: headers, options: options, monitors: monitors,
            decoder: decoder, encoder: encoder, completionQueue: completionQueue, clock: clock)
    }

    /// The environment of new requests. It can be set from any thread. A request keeps the environment in which it was
    /// built.
    public var environment: NetworkEnvironment {
        get { current.value }
        set { current.withLock { $0 = newValue } }
    }

    /// Returns a router over this manager's session and interceptors. It follows the manager's environment. Its
    /// `cancel()` does not affect the requests of other routers and of the manager.
    public func router<EndPoint: EndPointType>(for type: EndPoint.Type) -> Router<EndPoint> {
        Router(builder, calls.sibling())
    }

    /// Cancels the requests that the manager itself sent. Those of its routers are not affected.
    public func cancel() {
        calls.cancelAll()
    }

    /// Cancels every call of the manager and its routers, and removes the state of the interceptors; see
    /// ``Router/reset()``.
    public func reset() async {
        await calls.reset()
    }

    /// Returns the plan of a call and sends nothing; see ``Router/explain(_:options:isolation:)``.
    public func explain<EndPoint: EndPointType>(
        _ endPoint: EndPoint, options: RequestOptions = RequestOptions(),
        isolation: isolated (any Actor)? = #isolation
    ) async -> CallPlan {
        await ownRouter().explain(endPoint, options: options)
    }

    /// Returns a router whose calls belong to the manager itself.
    package func ownRouter<EndPoint: EndPointType>() -> Router<EndPoint> {
        Router(builder, calls)
    }

    /// Returns a router of the manager for a URL that may come from a server.
    package func urlRouter() -> Router<URLEndPoint> {
        (ownRouter() as Router<URLEndPoint>).urlRouter()
    }
}
