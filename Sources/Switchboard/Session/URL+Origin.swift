import Foundation

extension URL {
    /// Whether the scheme is https, in any case.
    var isHTTPS: Bool {
        absoluteString.utf8.starts(withLowercase: "https:")
    }

    /// Whether scheme, host and port are the same ([RFC 6454 §5](https://www.rfc-editor.org/rfc/rfc6454#section-5)).
    func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && (port ?? defaultPort) == (other.port ?? other.defaultPort)
    }

    private var defaultPort: Int { isHTTPS ? 443 : 80 }
}
