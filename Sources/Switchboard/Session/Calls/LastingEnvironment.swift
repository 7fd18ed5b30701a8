import SwitchboardPlatform

/// Keeps the environment of the first request for all requests of a sequence, such as pages or reconnected event
/// streams.
package final class LastingEnvironment: Sendable {
    private let now: @Sendable () -> CallEnvironment?
    private let first = Protected<CallEnvironment??>(nil)

    /// Creates an instance. `now` returns the environment of a call that starts at this moment.
    package init(_ now: @escaping @Sendable () -> CallEnvironment?) {
        self.now = now
    }

    /// The environment, determined on first use.
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
