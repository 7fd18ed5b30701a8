import Foundation
import Switchboard
import SwitchboardPlatform

/// Whether this machine is on a network, without sending anything.
///
/// ```swift
/// if Reachability.system.status == .unreachable { showOffline() }
/// for await status in Reachability.system.changes { show(status) }
/// ```
///
/// A network does not mean that a server answers: send the request, and look at
/// `NetworkError.Code.noInternetConnection`, which stands for a connection that failed while there was none. Apple's
/// systems have a path monitor, which is asked. On Linux it is enough that an interface other than loopback is up, with a
/// link and an address.
public struct Reachability: Sendable {
    /// Whether there is a network.
    public enum Status: String, Sendable {
        /// There is one.
        case reachable
        /// There is none.
        case unreachable
    }

    /// This machine's, looked at every second by those who listen.
    public static let system = Reachability()

    /// How often the network is looked at while somebody listens or waits.
    public let interval: Duration
    private let clock: any Clock<Duration>
    private let isOnline: @Sendable () -> Bool

    /// Makes one that looks at this machine's networks. `interval` is measured by `clock`, and at least a millisecond.
    public init(interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        self.init(interval: interval, clock: clock, isOnline: { NetworkPath.exists })
    }

    package init(interval: Duration, clock: any Clock<Duration>, isOnline: @escaping @Sendable () -> Bool) {
        self.interval = max(.milliseconds(1), interval.clamped)
        self.clock = clock
        self.isOnline = isOnline
    }

    /// Whether this machine is on a network.
    public var status: Status { isOnline() ? .reachable : .unreachable }

    /// False for another machine's URL while there is no network.
    package func hasWay(to url: URL) -> Bool { url.isLikelyLoopback || isOnline() }

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
