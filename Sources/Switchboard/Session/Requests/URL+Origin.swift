import SwitchboardPlatform
import Foundation
import SwitchboardText

extension URL {
    /// Whether the scheme is https, ignoring case.
    package var isHTTPS: Bool {
        absoluteString.utf8.starts(withLowercase: "https:")
    }

    /// Returns whether scheme, host and port are equal ([RFC 6454
    /// §5](https://www.rfc-editor.org/rfc/rfc6454#section-5)).
    package func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && effectivePort == other.effectivePort
    }

    /// The port, or the default of the scheme.
    package var effectivePort: Int { port ?? schemePort }

    /// The port with its colon, as in `Host`. Empty for the default of the scheme.
    package var portSuffix: String { effectivePort == schemePort ? "" : ":\(effectivePort)" }

    private var schemePort: Int { isHTTPS ? 443 : 80 }

    /// Whether the host is this device, by one of its usual names.
    package var isLoopback: Bool {
        let host = host ?? ""
        return IPAddress(host: host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    /// Whether the host is this device, or a name below `localhost`, which a resolver may map to another address.
    package var isLikelyLoopback: Bool {
        isLoopback || (host ?? "").lowercased().hasSuffix(".localhost")
    }
}
