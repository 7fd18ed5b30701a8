import SwitchboardPlatform
import Foundation
import Switchboard

/// Simulates the network of its ``conditions``, in debug builds and tests.
///
/// ```swift
/// let conditioner = NetworkConditioner(.threeG, seed: 42)
/// let manager = NetworkManager(interceptors: [RetryPolicy(), conditioner])
/// conditioner.conditions = .offline    // from a debug menu
/// ```
///
/// List it last, so that its conditions apply to each attempt. The redirects of one attempt share its conditions.
/// ``Switchboard/NetworkSession/under(_:seed:clock:)`` wraps a session instead, so that the conditions apply to each
/// exchange.
///
/// A request takes these times, measured by the given clock:
/// 1. the time to send its body: at once by its length, or piece by piece as a streamed body is read
/// 2. half of the latency, then the time of the rest of the chain, then the other half
/// 3. the time in which the body of the answer arrives, or each piece of it when it is read as it arrives
///
/// A lost request is not sent. It fails after its latency with ``/Switchboard/NetworkError/Code/connectionLost``.
/// Offline, every request fails at once with ``/Switchboard/NetworkError/Code/noInternetConnection``. The request's
/// timeouts apply: when the waits would exceed ``/Switchboard/Timeouts/attempt``, or the latency
/// ``/Switchboard/Timeouts/idle``, the request fails at that time with ``/Switchboard/NetworkError/Code/timedOut``. A
/// cancellation ends every wait. A downloaded file is complete before its simulated time has passed, and stays.
public final class NetworkConditioner: Interceptor, ExchangeInterceptor {
    /// The seed for losses and jitter. The same seed gives the same ones when requests are sent one by one.
    public let seed: UInt64
    private let clock: any Clock<Duration>
    private let state: Protected<State>

    private struct State {
        var conditions: NetworkConditions
        var count = 0
    }

    /// Creates a conditioner.
    ///
    /// - Parameters:
    ///   - conditions: The first conditions.
    ///   - seed: The seed for losses and jitter. Default 0, so that they are the same in each run.
    ///   - clock: The clock that measures the waits. Default the real one.
    public init(
        _ conditions: NetworkConditions, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock()
    ) {
        state = Protected(State(conditions: conditions))
        self.seed = seed
        self.clock = clock
    }

    /// The conditions for requests that begin from now on. Requests in flight keep the conditions they began with.
    public var conditions: NetworkConditions {
        get { state.withLock { $0.conditions } }
        set { state.withLock { $0.conditions = newValue } }
    }

    /// Sends the request under the conditions.
    public func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
        try await send(request) { try await next($0) }
    }

    func send(
        _ request: NetworkRequest, through next: @Sendable (NetworkRequest) async throws -> NetworkResponse
    ) async throws -> NetworkResponse {
        let (conditions, number) = state.withLock { state in
            state.count += 1
            return (state.conditions, state.count)
        }
        let draw = ConditionDraw(seed: seed, number: number)
        return try await ConditionedExchange(request, conditions, draw, clock).run(next)
    }
}
