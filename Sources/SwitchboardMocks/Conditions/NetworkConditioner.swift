import SwitchboardPlatform
import Foundation
import Switchboard

/// Lets requests meet a network as good as its ``conditions`` say, in debug builds and tests.
///
/// ```swift
/// let conditioner = NetworkConditioner(.threeG, seed: 42)
/// let manager = NetworkManager(interceptors: [RetryPolicy(), conditioner])
/// conditioner.conditions = .offline                                         // from a debug menu
/// ```
///
/// List it last, so that each attempt meets the network anew; redirects are followed behind it, within one attempt.
/// ``Switchboard/NetworkSession/under(_:seed:clock:)`` wraps a session instead, and so each exchange.
///
/// A request takes, on the clock given:
/// 1. the time to send its body: by its length at once, or piece by piece as a streamed body is read;
/// 2. half of the latency, then what the rest of the chain takes, then the other half;
/// 3. the time in which the body of the answer arrives, or each piece of it when it is read as it arrives.
///
/// A lost request is not sent: it ends after its latency with ``/Switchboard/NetworkError/Code/connectionLost``. Offline,
/// each ends at once with ``/Switchboard/NetworkError/Code/noInternetConnection``. The request's own timeouts hold: where
/// the waits would pass ``/Switchboard/Timeouts/attempt``, or the latency ``/Switchboard/Timeouts/idle``, it waits until
/// then and ends with ``/Switchboard/NetworkError/Code/timedOut``. A cancellation ends every wait. A downloaded file is
/// there before its time has passed, and stays.
public final class NetworkConditioner: Interceptor, ExchangeInterceptor {
    /// What decides about losses and jitter: the same seed decides the same for requests that are sent one by one.
    public let seed: UInt64
    private let clock: any Clock<Duration>
    private let state: Protected<State>

    private struct State {
        var conditions: NetworkConditions
        var count = 0
    }

    /// Makes a conditioner.
    ///
    /// - Parameters:
    ///   - conditions: How good the network is at first.
    ///   - seed: What decides about losses and jitter. Default 0, so that they are the same in each run.
    ///   - clock: What the waits are measured by; the real one by default.
    public init(
        _ conditions: NetworkConditions, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock()
    ) {
        state = Protected(State(conditions: conditions))
        self.seed = seed
        self.clock = clock
    }

    /// How good the network is for requests that begin from now on. Those under way keep what they began with.
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
