import Foundation
import SwitchboardText

extension NetworkRequest {
    /// Returns the request at another URL, where a redirect or a server's link leads.
    ///
    /// When scheme, host or port change, it drops the header fields that another origin must not receive; see
    /// ``leaveOrigin()``.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for a URL that no request can go to, and for a step from https
    ///   to http.
    package func moved(to target: URL) throws(NetworkError) -> NetworkRequest {
        let url = try checkedURL()
        if let fault = URLFault.of(target) {
            throw NetworkError(.redirectRefused, reason: "the URL \(target.shown) \(fault)")
        }
        try target.refuseDowngrade(from: url)
        var moved = self
        moved.url = target
        if !url.hasSameOrigin(as: target) { moved.leaveOrigin(isSameSite: url.isSameSite(as: target)) }
        return moved
    }
}

extension URL {
    /// Throws if the step from `there` to this URL leads from https to another scheme.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused``.
    package func refuseDowngrade(from there: URL) throws(NetworkError) {
        guard there.isHTTPS, !isHTTPS else { return }
        throw NetworkError(.redirectRefused, reason: "it leads from https to \(shown)")
    }

    /// Returns whether the hosts are equal or one is a subdomain of the other. Two subdomains of a third host count as
    /// different sites.
    fileprivate func isSameSite(as other: URL) -> Bool {
        let (one, two) = ((host ?? "").lowercased(), (other.host ?? "").lowercased())
        return one == two || one.hasSuffix("." + two) || two.hasSuffix("." + one)
    }

    fileprivate var shown: String { Redaction.standard.url(absoluteString).quotedForMessage }
}
