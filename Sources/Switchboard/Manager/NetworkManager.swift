import SwitchboardPlatform
import Dispatch
import Foundation

/// One client of an API: its environment, session, interceptors and coders. It makes routers and sends typed endpoints.
///
/// ```swift
/// let manager = NetworkManager(environment: .staging, interceptors: [NetworkLogger(), RetryPolicy()])
/// let movies = manager.router(for: MovieApi.self)
/// manager.environment = .production             // from the next request on; those under way keep theirs
/// ```
///
/// Credentials, `CommonHeaders` and `CommonParameters` go to the origins of ``servers`` and of the endpoints' own base
/// URLs. A URL at hand, which may come out of a response, gets them at the origin of ``servers`` alone: that of a
/// ``URLEndPoint``, of ``data(from:options:)`` and of
/// ``download(from:to:keepingPartial:options:progress:)``. Of a manager without servers the last two get none, while a
/// ``URLEndPoint`` is taken for an endpoint like others. `origins` and `hosts` of the interceptors say otherwise.
///
/// Managers are independent of each other. Apps extend it with the calls of their domain:
///
/// ```swift
/// extension NetworkManager {
///     func newMovies(page: Int) async throws -> [Movie] {
///         try await router(for: MovieApi.self).request(.newMovies(page: page), as: MoviePage.self).results
///     }
/// }
/// ```
public final class NetworkManager: Sendable {
    /// The base URLs of endpoints that have none of their own; nil when there are none.
    public let servers: EnvironmentURLs?
    private let builder: RequestBuilder
    private let calls: RouterCalls
    private let current: Protected<NetworkEnvironment>

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - environment: Where requests go. Default ``NetworkEnvironment/current``, read once, now.
    ///   - servers: The base URLs of endpoints that have none of their own. Default none.
    ///   - session: What performs the exchanges. Default ``DefaultSession/shared``.
    ///   - interceptors: What wraps each call, outermost first. Default none.
    ///   - exchangeInterceptors: What wraps each exchange, behind redirects, outermost first. Default none.
    ///   - headers: Header fields for every request; those of endpoint, task and body win. `Accept: application/json`
    ///     is added unless they have one.
    ///   - options: Timeouts, limits and options for every request; those of the endpoint win.
    ///   - responseHandling: What makes a value or an error of a response. Nil for the one in `options`.
    ///   - decoder: Decodes bodies. Nil for the one of the response handling.
    ///   - encoder: Encodes a ``JSONBody`` that has no encoder. Nil for the one in `options`.
    ///   - completionQueue: Where completions are called. Nil, the default, for no queue in particular.
    ///   - clock: What ``Timeouts/total`` is measured by.
    public init(
        environment: NetworkEnvironment = .current, servers: EnvironmentURLs? = nil,
        session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        exchangeInterceptors: [any ExchangeInterceptor] = [], headers: HTTPHeaders = [:],
        options: RequestOptions = RequestOptions(), responseHandling: ResponseHandling? = nil,
        decoder: (any ResponseDecoder)? = nil, encoder: (any RequestEncoder)? = nil,
        completionQueue: DispatchQueue? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        let current = Protected(environment)
        var options = options
        if let responseHandling { options.responseHandling = responseHandling }
        if let decoder { options.responseHandling.decoder = decoder }
        if let encoder { options.encoder = encoder }
        var builder = RequestBuilder(headers: [.accept("application/json")], options: options)
        builder.headers.merge(headers)
        if let servers {
            builder.baseURL = { try servers.url(in: .current) }
            builder.trustsURLs = false
        }
        builder.environment = current
        self.servers = servers
        self.builder = builder
        self.current = current
        calls = RouterCalls(InterceptorChain(interceptors, exchangeInterceptors, session), completionQueue, clock)
    }

    /// Where requests go that are made from now on. Set from any thread; a request has one environment from its making
    /// to its end.
    public var environment: NetworkEnvironment {
        get { current.value }
        set { current.withLock { $0 = newValue } }
    }

    /// A router over this manager's session and interceptors, in its environment, which it follows. Its `cancel()`
    /// leaves the requests of other routers and of the manager alone.
    public func router<EndPoint: EndPointType>(for type: EndPoint.Type) -> Router<EndPoint> {
        Router(builder, calls.sibling())
    }

    /// Cancels the requests sent by the manager itself. Those of its routers are not touched.
    public func cancel() {
        calls.cancelAll()
    }

    /// Ends every call of the manager and its routers as cancelled, and wipes what the interceptors hold; see
    /// ``Router/reset()``.
    public func reset() async {
        await calls.reset()
    }

    /// Says what a call would do, and does nothing; see ``Router/explain(_:)``.
    public func explain<EndPoint: EndPointType>(_ endPoint: EndPoint) async -> CallPlan {
        await ownRouter().explain(endPoint)
    }

    /// The environment of a call that begins at this moment.
    package var callEnvironment: CallEnvironment? { CallEnvironment(startingIn: current) }

    /// A router whose calls are the manager's own.
    func ownRouter<EndPoint: EndPointType>() -> Router<EndPoint> {
        Router(builder, calls)
    }

    /// The same for a URL at hand, which may have come from a server.
    func urlRouter() -> Router<URLEndPoint> {
        var builder = builder
        builder.trustsURLs = false
        return Router(builder, calls)
    }
}
