import Foundation
import SwitchboardPlatform

/// A date that changes only by `advance(by:)`.
package final class TestDate: Sendable {
    private let state: Protected<Date>

    package init(_ date: Date = Date(timeIntervalSince1970: 1_000_000)) {
        state = Protected(date)
    }

    package var now: Date { state.value }

    package func advance(by seconds: TimeInterval) { state.withLock { $0 += seconds } }
}
