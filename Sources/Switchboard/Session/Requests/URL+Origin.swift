import SwitchboardPlatform
import Foundation
import SwitchboardText

extension URL {
    /// Whether the scheme is https, in any case.
    package var isHTTPS: Bool {
        absoluteString.utf8.starts(withLowercase: "https:")
    }

    /// Whether scheme, host and port are the same ([RFC 6454 §5](https://www.rfc-editor.org/rfc/rfc6454#section-5)).
    package func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && effectivePort == other.effectivePort
    }

    /// The port, or that of the scheme.
    package var effectivePort: Int { port ?? schemePort }

    /// The port with its colon, as `Host` has it; nothing for that of the scheme.
    package var portSuffix: String { effectivePort == schemePort ? "" : ":\(effectivePort)" }

    private var schemePort: Int { isHTTPS ? 443 : 80 }

    /// Whether the host is this machine, by its usual names.
    package var isLoopback: Bool {
        let host = host ?? ""
        return IPAddress(host: host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    /// ``isLoopback``, or a name below `localhost`, which a resolver may know otherwise.
    package var isLikelyLoopback: Bool {
        isLoopback || (host ?? "").lowercased().hasSuffix(".localhost")
    }
}
