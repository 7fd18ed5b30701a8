import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// The parts of a URL that RFC 6265 uses to decide where a cookie comes from or goes to.
struct CookieOrigin {
    /// The host in lower case, an IPv6 address without brackets.
    let host: String
    /// The path as sent, with its escapes. `/` when the URL has none.
    let path: String
    let isSecure: Bool
    /// The length in bytes with a trailing dot.
    private static let longestHost = 254

    /// Creates the origin of a URL. Nil for a URL without a host, or with a host longer than 254 bytes.
    init?(_ url: URL) {
        let parts = URLParts(url)
        var host = parts.host.lowercased()
        if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
            host = String(host.dropFirst().dropLast())
        }
        // Longer names cannot exist (RFC 1035 §2.3.4), and each of their labels would cost a lookup.
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else { return nil }
        self.host = host
        path = parts.path.utf8.first == .slash ? parts.path : "/"
        isSecure = url.isHTTPS
    }

    /// The `default-path` of [RFC 6265 §5.1.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.4): the path up to
    /// the last slash.
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: .slash), slash > path.utf8.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Returns whether the path matches by `path-match` of RFC 6265 §5.1.4.
    func isUnder(_ cookiePath: String) -> Bool {
        path.isUnder(cookiePath)
    }
}
