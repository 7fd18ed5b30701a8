/// The way to the server: straight, or through a proxy.
public struct ProxyOptions: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case none
        case system
        case explicit(scheme: String, host: String, port: Int, user: String?, password: String?)
    }

    let kind: Kind
    /// Hosts that are reached without the proxy, their subdomains included: `["localhost", "example.com"]`, and `*` for
    /// all. Read for a proxy given by name; the system's brings its own. Default none.
    public var bypass: [String] = []

    /// Straight to the server, whatever the system says.
    public static let none = ProxyOptions(kind: .none)
    /// What the system says. On Linux that is `http_proxy` in lower case alone, `https_proxy`, `all_proxy` and
    /// `no_proxy` in the environment; on Apple's systems their network settings.
    public static let system = ProxyOptions(kind: .system)

    /// An HTTP proxy: https goes through it in a `CONNECT` tunnel ([RFC 9110
    /// §9.3.6](https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6)).
    public static func http(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "http", host: host, port: port, user: user, password: password))
    }

    /// An HTTP proxy that is itself reached over TLS.
    public static func https(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "https", host: host, port: port, user: user, password: password))
    }

    /// A SOCKS 5 proxy ([RFC 1928](https://www.rfc-editor.org/rfc/rfc1928)), which also resolves the host's name.
    public static func socks5(_ host: String, port: Int, user: String? = nil, password: String? = nil) -> ProxyOptions {
        ProxyOptions(kind: .explicit(scheme: "socks5h", host: host, port: port, user: user, password: password))
    }
}

extension ProxyOptions: CustomStringConvertible, CustomReflectable {
    /// Kind, host and port; never the credentials.
    public var description: String {
        switch kind {
        case .none: "no proxy"
        case .system: "the system's proxy"
        case .explicit(let scheme, let host, let port, _, _): "\(scheme)://\(host):\(port)"
        }
    }
    /// Shows the description only, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
