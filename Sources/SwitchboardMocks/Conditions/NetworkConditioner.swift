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
/// Among the exchange interceptors, its conditions apply to each exchange.
///
/// A request takes these times, measured by the given clock:
/// 1. the time to send its body: in one wait by its length, or piece by piece as a streamed body is read
/// 2. half of the latency, then the time of the rest of the chain, then the other half
/// 3. the time in which the body of the answer arrives, or each piece of it when it is read as it arrives
///
/// A lost request is not sent. It fails after its latency with ``/Switchboard/NetworkError/Code/connectionLost``.
/// Offline, every request fails at once with ``/Switchboard/NetworkError/Code/noInternetConnection``. The request's
/// timeouts apply: when the waits would exceed ``/Switchboard/Timeouts/attempt``, or the latency
/// ``/Switchboard/Timeouts/idle``, the request fails at that time with ``/Switchboard/NetworkError/Code/timedOut``. A
/// cancellation ends every wait. A downloaded file appears when its simulated time has passed.
public final class NetworkConditioner: Interceptor, ExchangeInterceptor {
    /// The seed for losses and jitter. With the same seed they are the same, if requests are sent one by one.
    package let seed: UInt64
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
        let (conditions, number) = state.withLock { state in
            state.count += 1
            return (state.conditions, state.count)
        }
        let time = SimulatedTime(clock, attempt: request.timeouts.attempt, source: "simulated conditions")
        return try await ConditionedExchange(
            request: request, conditions: conditions, seed: seed, number: number, time: time
        ).run(next)
    }
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). Its state is a counter,
/// so each number can be computed without those before it.
struct SplitMix64 {
    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    init(seed: UInt64, skipping count: UInt64 = 0) {
        state = seed &+ Self.step &* count
    }

    mutating func next() -> UInt64 {
        state &+= Self.step
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Returns a number from 0 up to 1, in steps of 2^-53. The standard library's algorithm may change between its
    /// versions.
    mutating func nextFraction() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}
