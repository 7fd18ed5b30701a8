import Switchboard

@testable import SwitchboardMocks

/// A session under simulated network conditions.
struct ConditionedSession: NetworkSession {
    /// The conditioner, whose conditions can be changed.
    let conditioner: NetworkConditioner
    private let session: any NetworkSession

    init(_ session: any NetworkSession, _ conditioner: NetworkConditioner) {
        self.session = session
        self.conditioner = conditioner
    }

    /// Sends a request under the conditions, and waits for the whole response.
    ///
    /// - Throws: The session's errors, and the errors of the conditions; see ``NetworkConditioner``. A request that may
    ///   not be sent fails at once.
    func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try request.validate()
        return try await conditioner.send(request) { [session] in try await session.send($0) }
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
