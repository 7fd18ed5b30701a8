/// The route to the server: direct or through a proxy.
public struct ProxyOptions: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case none
        case system
        case explicit(scheme: String, host: String, port: Int, user: String?, password: String?)
    }

    let kind: Kind
    /// Hosts that are reached without the proxy, including their subdomains: `["localhost", "example.com"]`. `*` means
    /// all hosts. Applies to an explicit proxy; the system's settings have a separate list. Default none.
    public var bypass: [String] = []

    /// A direct connection, whatever the system's settings.
    public static let none = ProxyOptions(kind: .none)
    /// The system's settings. On Linux, these are the environment variables `http_proxy` (lower case only),
    /// `https_proxy`, `all_proxy` and `no_proxy`; on Apple platforms, the network settings.
    public static let system = ProxyOptions(kind: .system)

    /// Returns an HTTP proxy. https requests use a `CONNECT` tunnel ([RFC 9110
    /// §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)).
    public static func http(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "http", host: host, port: port, user: user, password: password))
    }

    /// Returns an HTTP proxy that is reached over TLS.
    public static func https(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "https", host: host, port: port, user: user, password: password))
    }

    /// Returns a SOCKS 5 proxy ([RFC 1928](https://www.rfc-editor.org/rfc/rfc1928)), which also resolves the host name.
    public static func socks5(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "socks5h", host: host, port: port, user: user, password: password))
    }
}

extension ProxyOptions: CustomStringConvertible, CustomReflectable {
    /// Kind, host and port, without credentials.
    public var description: String {
        switch kind {
        case .none: "no proxy"
        case .system: "the system's proxy"
        case .explicit(let scheme, let host, let port, _, _): "\(scheme)://\(host):\(port)"
        }
    }
    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
