import Foundation

extension NetworkRequest {
    /// The request at another URL, where a redirect or a link of a server leads.
    ///
    /// What is meant for the origin alone is dropped when scheme, host or port change; see
    /// ``removeHeadersForOrigin(_:)``.
    ///
    /// - Throws: ``NetworkError/Code/redirectRefused`` for a URL that no request can go to, and for one that leads from
    ///   https to http.
    func moved(to target: URL, redaction: Redaction = .standard) throws(NetworkError) -> NetworkRequest {
        let url = try checkedURL()
        if let fault = URLText.fault(of: target) {
            throw NetworkError(.redirectRefused, reason: "the URL \(target.shown) \(fault)")
        }
        try target.refuseDowngrade(from: url)
        var moved = self
        moved.url = target
        if !url.hasSameOrigin(as: target) { moved.removeHeadersForOrigin(redaction) }
        return moved
    }

    /// Removes the header fields that are meant for the origin they were made for: credentials by any of their names,
    /// and the host itself. From then on nothing adds credentials to the request that is not told to; see
    /// ``CredentialOrigins``.
    mutating func removeHeadersForOrigin(_ redaction: Redaction = .standard) {
        let names = headers.map(\.name).filter { name in
            redaction.isSecret(header: name) || carriesCredentials(in: name)
                || Self.namesForOrigin.contains { name.equalsIgnoringCase($0) }
        }
        for name in names { headers.remove(name) }
        hasLeftOrigin = true
    }

    private static let namesForOrigin = ["Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Host"]
}

extension URL {
    /// - Throws: ``NetworkError/Code/redirectRefused`` when the way here from there leads from https to another scheme.
    func refuseDowngrade(from there: URL) throws(NetworkError) {
        guard there.isHTTPS, !isHTTPS else { return }
        throw NetworkError(.redirectRefused, reason: "it leads from https to \(shown)")
    }

    fileprivate var shown: String { Redaction.standard.url(absoluteString).quotedForMessage }
}
