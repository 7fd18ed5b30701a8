import Foundation
import SwitchboardPlatform

extension SessionConfiguration {
    /// An option that URLSession does not support on every platform, or nil if it supports all set options.
    var unsupportedByURLSession: String? {
        let defaults = SessionConfiguration()
        if tls != defaults.tls { return "TLS options; use CurlSession on Linux" }
        if proxy != defaults.proxy { return "a custom proxy (\(proxy))" }
        if httpVersion != defaults.httpVersion { return "a fixed HTTP version" }
        if unixSocketPath != nil { return "a unix-domain socket" }
        if !resolve.isEmpty { return "addresses in place of the resolver's (resolve)" }
        if localAddress != nil { return "a local address" }
        if addressFamily != defaults.addressFamily { return "IPv4 or IPv6 alone" }
        if maximumConnections != nil { return "a limit on all connections" }
        return nil
    }

    var urlSessionConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerHost)
        // A session stores nothing, because cookies, credentials and caching belong to interceptors. On Linux, a cache
        // would also make the cancellation of a task a race that crashes the process.
        configuration.urlCache = nil
        // This policy adds no `Cache-Control` to requests, as a policy that ignores caches may.
        configuration.requestCachePolicy = .useProtocolCachePolicy
        configuration.httpCookieStorage = nil
        configuration.httpCookieAcceptPolicy = .never
        configuration.httpShouldSetCookies = false
        configuration.urlCredentialStorage = nil
        configuration.timeoutIntervalForRequest = URLSessionQuirks.timeout
        // The default of a week would end a longer stream.
        configuration.timeoutIntervalForResource = 86_400 * 365
        return configuration
    }
}
