import Foundation
import Switchboard

/// A session behind a network that is as good as conditions say; see ``Switchboard/NetworkSession/under(_:seed:clock:)``.
public struct ConditionedSession: NetworkSession {
    /// What holds the conditions; change them there.
    public let conditioner: NetworkConditioner
    private let session: any NetworkSession

    init(_ session: any NetworkSession, _ conditioner: NetworkConditioner) {
        self.session = session
        self.conditioner = conditioner
    }

    /// Sends a request under the conditions, and waits for the whole response.
    ///
    /// - Throws: What the session throws; what the conditions bring about, see ``NetworkConditioner``. A request that may
    ///   not be sent fails at once.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try request.validate()
        return try await conditioner.send(request) { [session] in try await session.send($0) }
    }
}

extension NetworkSession {
    /// This session behind a network as good as conditions say, for each exchange of it.
    ///
    /// ```swift
    /// let session = DefaultSession.shared.under(.edge)
    /// session.conditioner.conditions = .offline
    /// ```
    ///
    /// - Parameters:
    ///   - conditions: How good the network is at first.
    ///   - seed: What decides about losses and jitter. Default 0, so that they are the same in each run.
    ///   - clock: What the waits are measured by; the real one by default.
    /// - Returns: The session to use in place of this one.
    public func under(
        _ conditions: NetworkConditions, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock()
    ) -> ConditionedSession {
        ConditionedSession(self, NetworkConditioner(conditions, seed: seed, clock: clock))
    }
}
