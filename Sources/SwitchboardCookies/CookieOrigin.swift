import Switchboard
import SwitchboardPlatform
import Foundation
import SwitchboardText

/// Where a cookie comes from or goes to: what RFC 6265 asks of a URL.
struct CookieOrigin {
    /// In lower case, IPv6 without brackets.
    let host: String
    /// As it is sent, escapes included; `/` when the URL has none.
    let path: String
    let isSecure: Bool
    /// With a dot behind it.
    private static let longestHost = 254

    /// Nil for a URL without a host, and for a host that is longer than names are.
    init?(_ url: URL) {
        let parts = URLParts(url)
        var host = parts.host.lowercased()
        if host.utf8.first == UInt8(ascii: "["), host.utf8.last == UInt8(ascii: "]") {
            host = String(host.dropFirst().dropLast())
        }
        // A longer name is nobody's (RFC 1035 §2.3.4), and its labels would be looked up one by one.
        guard !host.isEmpty, host.utf8.count <= Self.longestHost else { return nil }
        self.host = host
        path = parts.path.utf8.first == .slash ? parts.path : "/"
        isSecure = url.isHTTPS
    }

    /// `default-path` of [RFC 6265 §5.1.4](https://www.rfc-editor.org/rfc/rfc6265#section-5.1.4): up to the last slash.
    var defaultPath: String {
        guard let slash = path.utf8.lastIndex(of: .slash), slash > path.utf8.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// `path-match` of RFC 6265 §5.1.4.
    func isUnder(_ cookiePath: String) -> Bool {
        path.isUnder(cookiePath)
    }
}
