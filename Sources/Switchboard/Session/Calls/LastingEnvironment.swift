import SwitchboardPlatform

/// The environment of the first of several requests, for all of them: of pages, or of events over several connections.
package final class LastingEnvironment: Sendable {
    private let now: @Sendable () -> CallEnvironment?
    private let first = Protected<CallEnvironment??>(nil)

    /// `now` gives the environment of a call that begins at the moment of asking.
    package init(_ now: @escaping @Sendable () -> CallEnvironment?) {
        self.now = now
    }

    /// The environment, found when it is first asked for.
    package var value: CallEnvironment? {
        if let first = first.value { return first }
        let now = now()
        return first.withLock { first in
            if let first { return first }
            first = .some(now)
            return now
        }
    }
}
