import Foundation
import Switchboard

/// How often a credential may be refreshed, so that a server which refuses every new one is not asked for ever.
public struct RefreshLimit: Sendable, Hashable {
    /// The most refreshes within ``window``; at least 1.
    public var count: Int
    /// The time that is looked back.
    public var window: Duration

    /// Makes a limit. By default five in thirty seconds.
    public init(count: Int = 5, within window: Duration = .seconds(30)) {
        self.count = max(1, count)
        self.window = window
    }
}
