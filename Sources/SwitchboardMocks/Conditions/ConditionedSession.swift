import Foundation
import Switchboard

/// A session under simulated network conditions; see ``Switchboard/NetworkSession/under(_:seed:clock:)``.
public struct ConditionedSession: NetworkSession {
    /// The conditioner that holds the conditions, which can be changed there.
    public let conditioner: NetworkConditioner
    private let session: any NetworkSession

    init(_ session: any NetworkSession, _ conditioner: NetworkConditioner) {
        self.session = session
        self.conditioner = conditioner
    }

    /// Sends a request under the conditions, and waits for the whole response.
    ///
    /// - Throws: The session's errors, and the errors of the conditions; see ``NetworkConditioner``. A request that may
    ///   not be sent fails at once.
    public func send(_ request: NetworkRequest) async throws -> NetworkResponse {
        try request.validate()
        return try await conditioner.send(request) { [session] in try await session.send($0) }
    }
}

extension NetworkSession {
    /// Returns this session under simulated network conditions, which apply to each exchange.
    ///
    /// ```swift
    /// let session = DefaultSession.shared.under(.edge)
    /// session.conditioner.conditions = .offline
    /// ```
    ///
    /// - Parameters:
    ///   - conditions: The first conditions.
    ///   - seed: The seed for losses and jitter. Default 0, so that they are the same in each run.
    ///   - clock: The clock that measures the waits. Default the real one.
    /// - Returns: The session to use in place of this one.
    public func under(
        _ conditions: NetworkConditions, seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock()
    ) -> ConditionedSession {
        ConditionedSession(self, NetworkConditioner(conditions, seed: seed, clock: clock))
    }
}
