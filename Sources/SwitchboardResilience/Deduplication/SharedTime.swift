import Foundation
import Switchboard
import SwitchboardPlatform

/// The time that remains for retries of a shared request: the longest of its callers' times. A caller's total timeout
/// ends only the wait of that caller.
final class SharedTime: Sendable {
    /// The request of the first caller.
    let leader: NetworkRequest.ID
    private let left: Protected<[RetryPolicy.TimeLeft]>

    init(of request: NetworkRequest) {
        leader = request.id
        left = Protected([request.timeLeft ?? { .century }])
    }

    func join(_ request: NetworkRequest) {
        left.withLock { $0.append(request.timeLeft ?? { .century }) }
    }

    /// Returns the request with the shared time in place of its total timeout.
    func sharing(_ request: NetworkRequest) -> NetworkRequest {
        var request = request
        request.timeouts.total = nil
        request.sharedTimeLeft = { [left] in left.value.map { $0() }.max() ?? .century }
        return request
    }
}
