import Foundation
import Switchboard
import SwitchboardPlatform

/// How long a shared request may be sent again: as long as one of its callers waits. Each one's own total timeout ends its
/// wait, and no other's.
final class SharedTime: Sendable {
    /// Who began.
    let leader: NetworkRequest.ID
    private let left: Protected<[RetryPolicy.TimeLeft]>

    init(of request: NetworkRequest) {
        leader = request.id
        left = Protected([request.timeLeft ?? { .century }])
    }

    func join(_ request: NetworkRequest) {
        left.withLock { $0.append(request.timeLeft ?? { .century }) }
    }

    /// The request with this in place of its own total timeout.
    func sharing(_ request: NetworkRequest) -> NetworkRequest {
        var request = request
        request.timeouts.total = nil
        request.sharedTimeLeft = { [left] in left.value.map { $0() }.max() ?? .century }
        return request
    }
}
