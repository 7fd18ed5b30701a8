/// The options of a session: its connections, its proxy and its trust.
///
/// ```swift
/// var configuration = SessionConfiguration()
/// configuration.tls.extraAuthorities = [.file(companyAuthority)]
/// let router = Router<MovieApi>(
///     session: DefaultSession.make(configuration))
/// ```
///
/// ``CurlSession`` supports all options. ``FoundationSession`` never ignores one: an option that it does not support
/// makes each request fail with ``NetworkError/Code/unsupported``.
public struct SessionConfiguration: Sendable, Hashable {
    /// The maximum number of connections to one host. Default 6. A request waits until a connection is free. Over
    /// HTTP/2, one connection serves many requests at once.
    public var maximumConnectionsPerHost: Int
    /// The maximum number of connections to all hosts. Nil, the default, means no limit.
    public var maximumConnections: Int?
    /// The version of HTTP. Default ``HTTPVersionPolicy/automatic``.
    public var httpVersion = HTTPVersionPolicy.automatic
    /// The trusted servers, and the client's certificate.
    public var tls = TLSOptions()
    /// The route to the server. Default ``ProxyOptions/system``.
    public var proxy = ProxyOptions.system
    /// The path of a Unix-domain socket to connect to instead of the URL's host, which is still used in `Host` and for
    /// TLS. Default nil.
    public var unixSocketPath: String?
    /// Addresses to use for a `host:port` instead of a name lookup: `["api.example.com:443": ["10.0.0.7"]]`. Default
    /// none.
    public var resolve: [String: [String]] = [:]
    /// The local address of connections. Nil, the default, leaves the choice to the system.
    public var localAddress: String?
    /// The IP versions to use. Default any.
    public var addressFamily = AddressFamily.any

    /// Creates a configuration. All other options are properties.
    public init(maximumConnectionsPerHost: Int = 6) {
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
    }
}
