import Foundation
import Switchboard
import SwitchboardPlatform

/// Reports whether this machine is on a network, without sending anything.
///
/// ```swift
/// if Reachability.system.status == .unreachable { showOffline() }
/// for await status in Reachability.system.changes { show(status) }
/// ```
///
/// A network does not guarantee that a server answers. Send the request, and check for
/// `NetworkError.Code.noInternetConnection`, the error of a connection that failed without a network. On Apple's
/// systems, a path monitor supplies the status, except on watchOS, where it is always reachable. The first instance of
/// a process starts the monitor, and the status is reachable until its first report. On Linux, one interface other than
/// loopback must be up, with a carrier and an address that is not link-local. Those of AWS Lambda count.
public struct Reachability: Sendable {
    /// The status of the network.
    public enum Status: String, Sendable {
        /// The machine is on a network.
        case reachable
        /// The machine is on no network.
        case unreachable
    }

    /// The reachability of this machine, checked every second for readers of ``changes``.
    public static let system = Reachability()

    fileprivate let interval: Duration
    private let clock: any Clock<Duration>
    private let isOnline: @Sendable () -> Bool

    /// Creates an instance that checks this machine's networks.
    ///
    /// - Parameters:
    ///   - interval: The time between two checks while a reader or a request waits, at least a millisecond. Default one
    ///     second.
    ///   - clock: The clock that measures it.
    public init(interval: Duration = .seconds(1), clock: any Clock<Duration> = ContinuousClock()) {
        // Starts the path monitor of Apple's systems, so that it has usually reported before the first request.
        _ = NetworkPath.exists
        self.init(interval: interval, clock: clock, isOnline: { NetworkPath.exists })
    }

    package init(interval: Duration, clock: any Clock<Duration>, isOnline: @escaping @Sendable () -> Bool) {
        self.interval = max(.milliseconds(1), interval.clamped)
        self.clock = clock
        self.isOnline = isOnline
    }

    /// The current status. ``Status/reachable`` does not mean that a server answers.
    public var status: Status { isOnline() ? .reachable : .unreachable }

    /// Returns false for another machine's URL while no network is available.
    package func canReach(_ url: URL) -> Bool { url.isLikelyLoopback || isOnline() }

    /// The current ``status``, and then each change. A slow reader receives only the latest. The stream ends with the
    /// reader's task.
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

/// Delays requests for a limited time while this machine is on no network. Requests to this machine itself never wait.
///
/// ```swift
/// let manager = NetworkManager(
///     interceptors: [ConnectivityGate(upTo: .seconds(30))])
/// ```
///
/// List it after a `RetryPolicy`, and before a login, limiters and a ``CircuitBreaker``. Otherwise, a request fails if
/// it must refresh a token without a network, and a request that waits holds a slot or the probe of a circuit.
///
/// After that time, the request is sent anyway, and the transport may fail with
/// `NetworkError.Code.noInternetConnection`. The wait counts toward `Timeouts.total`.
public struct ConnectivityGate: Interceptor {
    private let limit: Duration
    private let reachability: Reachability
    private let clock: any Clock<Duration>

    /// Creates the interceptor.
    ///
    /// - Parameters:
    ///   - limit: The longest wait. Default one minute.
    ///   - reachability: Checks the network at its interval.
    ///   - clock: The clock that measures the wait.
    public init(
        upTo limit: Duration = .seconds(60), reachability: Reachability = .system,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit.clamped
        self.reachability = reachability
        self.clock = clock
    }

    /// Waits for a network if none is available, and sends the request.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard isOffline(for: request) else { return try await next(request) }
        request.report(.waiting(for: "network"))
        let elapsed = clock.stopwatch()
        var waited = Duration.zero
        while waited < limit, isOffline(for: request) {
            let step = min(reachability.interval, limit - waited)
            try await withOwnTask { [clock] in try await clock.sleep(for: step) }
            waited = elapsed()
        }
        try Call.check()
        request.report(.resumed(after: waited))
        return try await next(request)
    }

    private func isOffline(for request: NetworkRequest) -> Bool {
        request.url.map { !reachability.canReach($0) } ?? false
    }
}
