import Foundation
import Switchboard
import SwitchboardPlatform

/// Holds requests back while this machine is on no network, for a while. One to this machine itself never waits.
///
/// ```swift
/// let manager = NetworkManager(interceptors: [WaitsForConnectivity(upTo: .seconds(30))])
/// ```
///
/// When the time has passed the request is sent all the same: the transport has the last word, and says
/// `NetworkError.Code.noInternetConnection`. The wait counts towards `Timeouts.total`.
public struct WaitsForConnectivity: Interceptor {
    /// The longest wait. Default a minute.
    public let limit: Duration
    private let reachability: Reachability
    private let clock: any Clock<Duration>

    /// Makes the interceptor. The network is looked at every ``Reachability/interval``, measured by `clock`.
    public init(
        upTo limit: Duration = .seconds(60), reachability: Reachability = .system,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.limit = limit.clamped
        self.reachability = reachability
        self.clock = clock
    }

    /// Waits if there is no way, and sends the request.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        guard isOffline(for: request) else { return try await next(request) }
        request.report(.waiting(for: "network"))
        var waited = Duration.zero
        while waited < limit, isOffline(for: request) {
            let step = min(reachability.interval, limit - waited)
            try await withOwnTask { [clock] in try await clock.sleep(for: step) }
            waited += step
        }
        try CallCancellation.check()
        request.report(.admitted(after: waited))
        return try await next(request)
    }

    private func isOffline(for request: NetworkRequest) -> Bool {
        request.url.map { !reachability.hasWay(to: $0) } ?? false
    }
}
