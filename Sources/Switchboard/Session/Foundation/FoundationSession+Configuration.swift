import Foundation

extension SessionConfiguration {
    /// What URLSession would have to be told and cannot be, or not everywhere; nil when there is nothing.
    var unsupportedByURLSession: String? {
        let plain = SessionConfiguration()
        if tls != plain.tls { return "TLS options; CurlSession has them" }
        if proxy != plain.proxy { return "a proxy of the session's own (\(proxy))" }
        if httpVersion != plain.httpVersion { return "a choice of the HTTP version" }
        if unixSocketPath != nil { return "a unix-domain socket" }
        if !resolve.isEmpty { return "addresses instead of the resolver's" }
        if localAddress != nil { return "a local address" }
        if addressFamily != plain.addressFamily { return "a choice between IPv4 and IPv6" }
        if maximumConnections != nil { return "a limit for all connections together" }
        return nil
    }

    var urlSessionConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
        // Nothing is remembered inside a session: cookies, credentials and cache are interceptors' work. On Linux a
        // cache would also make cancelling a task a race that ends the process.
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        // Ours have fractions of a second. Finite, because infinity is a trap on Linux.
        configuration.timeoutIntervalForRequest = 86_400 * 7
        return configuration
    }
}
