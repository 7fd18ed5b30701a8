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
    /// The maximum number of connections to one host. Default 6. A value below 1 counts as 1. A request waits until a
    /// connection is free. Over HTTP/2, one connection serves many requests at once.
    public var maximumConnectionsPerHost: Int
    /// The maximum number of connections to all hosts. Nil, the default, means no limit. A value below 1 counts as 1.
    public var maximumConnections: Int?
    /// The version of HTTP. Default ``HTTPVersion/automatic``.
    public var httpVersion = HTTPVersion.automatic
    /// The trusted servers, and the client's certificate.
    public var tls = TLS()
    /// The route to the server. Default ``Proxy/system``.
    public var proxy = Proxy.system
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

extension SessionConfiguration {
    /// The route to the server: direct or through a proxy.
    public struct Proxy: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case none
            case system
            case explicit(scheme: String, host: String, port: Int, user: String?, password: String?)
        }

        let kind: Kind
        /// Hosts that are reached without the proxy, including their subdomains: `["localhost", "example.com"]`. `*`
        /// means all hosts. Applies to an explicit proxy; the system's settings have a separate list. Default none.
        public var bypass: [String] = []

        /// A direct connection, whatever the system's settings.
        public static let none = Proxy(kind: .none)
        /// The system's settings. On Linux, these are the environment variables `http_proxy` (lower case only),
        /// `https_proxy`, `all_proxy` and `no_proxy`; on Apple platforms, the network settings.
        public static let system = Proxy(kind: .system)

        /// Returns an HTTP proxy. https requests use a `CONNECT` tunnel ([RFC 9110
        /// §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)).
        public static func http(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> Proxy {
            Proxy(kind: .explicit(scheme: "http", host: host, port: port, user: user, password: password))
        }

        /// Returns an HTTP proxy that is reached over TLS.
        public static func https(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> Proxy {
            Proxy(kind: .explicit(scheme: "https", host: host, port: port, user: user, password: password))
        }

        /// Returns a SOCKS 5 proxy ([RFC 1928](https://www.rfc-editor.org/rfc/rfc1928)), which also resolves the host
        /// name.
        public static func socks5(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> Proxy {
            Proxy(kind: .explicit(scheme: "socks5h", host: host, port: port, user: user, password: password))
        }
    }

    /// The IP versions to which a session connects.
    public enum AddressFamily: Sendable, Hashable {
        /// IPv4 and IPv6, whichever connects first.
        case any
        /// Only IPv4.
        case ipv4
        /// Only IPv6.
        case ipv6
    }

    /// The version of HTTP that a session uses.
    public enum HTTPVersion: Sendable, Hashable {
        /// HTTP/2 if TLS negotiates it ([RFC 9113 §3.2](https://www.rfc-editor.org/rfc/rfc9113#section-3.2)), or else
        /// HTTP/1.1.
        case automatic
        /// Always HTTP/1.1.
        case http1
        /// HTTP/2 without negotiation on plain connections ([RFC 9113
        /// §3.3](https://www.rfc-editor.org/rfc/rfc9113#section-3.3)), for servers that are known to support it. Over
        /// TLS the same as ``automatic``.
        case http2PriorKnowledge
    }
}

extension SessionConfiguration.Proxy: DumpedAsDescription {
    /// Kind, host and port, without credentials.
    public var description: String {
        switch kind {
        case .none: "no proxy"
        case .system: "the system's proxy"
        case .explicit(let scheme, let host, let port, _, _): "\(scheme)://\(host):\(port)"
        }
    }
}
