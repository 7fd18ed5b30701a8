import Foundation
import Switchboard

/// The largest number of refreshes in a period. It protects a server that refuses every new credential.
public struct RefreshLimit: Sendable, Hashable {
    /// The largest number of refreshes within ``window``, at least 1.
    public var count: Int
    /// The period in which refreshes are counted.
    public var window: Duration

    /// Creates a limit. By default, five refreshes in thirty seconds.
    public init(count: Int = 5, within window: Duration = .seconds(30)) {
        self.count = max(1, count)
        self.window = window
    }
}
