import Foundation

/// Whether this machine has a way to a server: by its routes, without sending anything.
///
/// ```swift
/// if Reachability.system.status(for: url) == .unreachable { show(offline) }
/// for await status in Reachability.system.changes { update(status) }
/// ```
///
/// A way does not mean that the server answers: send the request, and look at ``NetworkError/Code/noInternetConnection``,
/// which stands for a connection that failed while there was none. On Linux the routes are read from `/proc/net`; on
/// Apple's systems the path monitor is asked, which tells one network from none, not one server from another. Loopback
/// always has a way.
public struct Reachability: Sendable {
    /// Whether there is a way.
    public enum Status: String, Sendable {
        /// There is one.
        case reachable
        /// There is none.
        case unreachable
    }

    /// This machine's, looked at every second by those who listen.
    public static let system = Reachability()

    /// How often the routes are looked at while somebody listens or waits.
    public let interval: Duration
    private let clock: any Clock<Duration>
    private let routes: @Sendable () -> RouteTable

    /// Makes one that looks at this machine's routes. `interval` is measured by `clock`, and at least a millisecond.
    public init(interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(interval: interval, clock: clock, routes: { RouteTable.current() })
    }

    package init(
        interval: Duration = .seconds(1), clock: any Clock<Duration>, routes: @escaping @Sendable () -> RouteTable
    ) {
        self.interval = max(.milliseconds(1), interval.clamped)
        self.clock = clock
        self.routes = routes
    }

    /// Whether there is a way off this machine at all.
    public var status: Status {
        routes().leadsAnywhere ? .reachable : .unreachable
    }

    /// Whether there is a way to the host of a URL. To an address by the routes to it, to a name when there is any; to this
    /// machine itself always. A URL without a host is unreachable.
    public func status(for url: URL) -> Status {
        let host = URLParts(url).host
        return !host.isEmpty && routes().reaches(host: host) ? .reachable : .unreachable
    }

    /// ``status`` as it is now, and then each time it is another. A reader that is slow gets the latest alone. It ends with
    /// the reader's task.
    public var changes: AsyncStream<Status> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                var last: Status?
                while !Task.isCancelled {
                    let now = status
                    if now != last { continuation.yield(now) }
                    last = now
                    guard (try? await clock.sleep(for: interval)) != nil else { break }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension NetworkError {
    /// The error, or ``NetworkError/Code/noInternetConnection`` for a connection that could not be made while this machine
    /// has no way to the URL's host.
    func asOfflineError(to url: URL?) -> NetworkError {
        guard code == .cannotConnect || code == .cannotFindHost, let url = url ?? self.url,
            Reachability.system.status(for: url) == .unreachable
        else { return self }
        let reason = url.host.map { "this machine has no way to \($0)" } ?? reason
        var offline = NetworkError(.noInternetConnection, reason: reason, underlying: underlying)
        offline.url = self.url
        offline.method = method
        offline.endPoint = endPoint
        offline.attempts = attempts
        offline.requestBox = requestBox
        return offline
    }
}
