import Foundation
import Switchboard
import SwitchboardPlatform

/// Delays requests for a limited time while this machine is on no network. Requests to this machine itself never wait.
///
/// ```swift
/// let manager = NetworkManager(
///     interceptors: [WaitsForConnectivity(upTo: .seconds(30))])
/// ```
///
/// After that time, the request is sent anyway, and the transport may fail with
/// `NetworkError.Code.noInternetConnection`. The wait counts toward `Timeouts.total`.
public struct WaitsForConnectivity: Interceptor {
    /// The longest wait. Default one minute.
    public let limit: Duration
    private let reachability: Reachability
    private let clock: any Clock<Duration>

    /// Creates the interceptor. It checks the network every ``Reachability/interval``, measured by `clock`.
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
