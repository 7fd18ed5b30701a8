import Foundation

extension SessionConfiguration {
    /// What URLSession would have to be told and cannot be, or not everywhere; nil when there is nothing.
    var unsupportedByURLSession: String? {
        let plain = SessionConfiguration()
        if tls != plain.tls { return "TLS options; use CurlSession" }
        if proxy != plain.proxy { return "a custom proxy (\(proxy))" }
        if httpVersion != plain.httpVersion { return "a fixed HTTP version" }
        if unixSocketPath != nil { return "a unix-domain socket" }
        if !resolve.isEmpty { return "custom addresses (resolve)" }
        if localAddress != nil { return "a local address" }
        if addressFamily != plain.addressFamily { return "a fixed address family" }
        if maximumConnections != nil { return "a limit on all connections" }
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
