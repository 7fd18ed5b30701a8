/// What is chosen for a session as a whole: its connections, and whom they trust.
///
/// ```swift
/// var configuration = SessionConfiguration()
/// configuration.tls.extraAuthorities = [.file(companyAuthority)]
/// let router = Router<MovieApi>(session: DefaultSession.make(configuration))
/// ```
///
/// ``CurlSession`` does all of it. What ``FoundationSession`` cannot do is ``NetworkError/Code/unsupported`` when a
/// request is sent, never ignored.
public struct SessionConfiguration: Sendable, Hashable {
    /// The number of connections to one host at a time. Default 6. A request that finds none free waits; over HTTP/2
    /// one connection serves many requests at once.
    public var maximumConnectionsPerHost: Int
    /// The number of connections to all hosts together. Nil, the default, for no limit.
    public var maximumConnections: Int?
    /// Which version of HTTP to speak. Default ``HTTPVersionPolicy/automatic``.
    public var httpVersion = HTTPVersionPolicy.automatic
    /// Whom to trust, and what to show of oneself.
    public var tls = TLSOptions()
    /// The way to the server. Default ``ProxyOptions/system``.
    public var proxy = ProxyOptions.system
    /// The path of a unix-domain socket to connect to instead of the URL's host, which still names the server in `Host`
    /// and TLS. Default nil.
    public var unixSocketPath: String?
    /// Addresses to use for a `host:port` instead of asking the resolver: `["api.example.com:443": ["10.0.0.7"]]`.
    /// Default none.
    public var resolve: [String: [String]] = [:]
    /// The address of this machine to connect from. Nil, the default, for the system's choice.
    public var localAddress: String?
    /// Which of a host's addresses to use. Default any.
    public var addressFamily = AddressFamily.any

    /// Makes a configuration; everything else is set on it.
    public init(maximumConnectionsPerHost: Int = 6) {
        self.maximumConnectionsPerHost = maximumConnectionsPerHost
    }
}
