import Foundation
import SwitchboardText

extension NetworkRequest {
    /// The request at another URL, where a redirect or a link of a server leads.
    ///
    /// When scheme, host or port change, it leaves behind what another origin may not see; see ``leaveOrigin()``.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for a URL that no request can go to, and for one that leads from
    ///   https to http.
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
    /// - Throws: ``NetworkError/Code/redirectRefused`` when the way here from there leads from https to another scheme.
    package func refuseDowngrade(from there: URL) throws(NetworkError) {
        guard there.isHTTPS, !isHTTPS else { return }
        throw NetworkError(.redirectRefused, reason: "it leads from https to \(shown)")
    }

    /// Whether the hosts are the same, or one is below the other. Two that are below a third count as different sites.
    fileprivate func isSameSite(as other: URL) -> Bool {
        let (one, two) = ((host ?? "").lowercased(), (other.host ?? "").lowercased())
        return one == two || one.hasSuffix("." + two) || two.hasSuffix("." + one)
    }

    fileprivate var shown: String { Redaction.standard.url(absoluteString).quotedForMessage }
}
