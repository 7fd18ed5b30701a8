import Foundation

extension FoundationSession {
    /// What can be chosen for a session as a whole.
    public struct Configuration: Sendable {
        /// The number of connections to one host at a time. Default 6. A request that waits for one is already timed.
        public var maximumConnectionsPerHost: Int

        /// Makes a configuration.
        public init(maximumConnectionsPerHost: Int = 6) {
            self.maximumConnectionsPerHost = maximumConnectionsPerHost
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
}
