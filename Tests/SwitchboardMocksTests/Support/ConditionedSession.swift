import Switchboard
import SwitchboardMocks

/// A session under simulated network conditions.
struct ConditionedSession: NetworkSession {
    /// The conditioner, whose conditions can be changed.
    let conditioner: NetworkConditioner
    private let chain: InterceptorChain

    init(_ session: any NetworkSession, _ conditioner: NetworkConditioner) {
        self.conditioner = conditioner
        chain = InterceptorChain([.exchange(conditioner)], session)
    }

    /// Sends a request under the conditions, and waits for the whole response.
    ///
    /// - Throws: The session's errors, and the errors of the conditions; see ``NetworkConditioner``. A request that may
    ///   not be sent fails at once.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try request.validate()
        return try await chain.send(request)
    }
}

extension NetworkSession {
    /// Returns this session under simulated network conditions, which apply to each exchange.
    func under(
        _ conditions: NetworkConditions, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock()
    ) -> ConditionedSession {
        ConditionedSession(self, NetworkConditioner(conditions, seed: seed, clock: clock))
    }
}
