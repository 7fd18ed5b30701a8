import Dispatch

/// Ends operations whose deadline has passed, with one timer for all of them.
///
/// The timer is set to the earliest known deadline. When a holder is removed or its deadline moves back, the timer
/// fires early, checks all holders and is set again. A timer for each holder would cost more than its exchange. The
/// timer stops while the device sleeps, and so does the clock of the deadlines. Both run while the process is suspended.
/// A timer that fires late may mean that, so what has arrived meanwhile is read first.
package final class DeadlineSweeper: @unchecked Sendable {  // the timer is only set under the lock of `state`
    private struct State {
        var holders: [ObjectIdentifier: any DeadlineHolder] = [:]
        var next: SuspendingClock.Instant?
        /// The time until which no operation ends, after the timer fired late.
        var pauseEnd: SuspendingClock.Instant?
    }

    private let state = Protected(State())
    private let timer: any DispatchSourceTimer
    private let now: @Sendable () -> SuspendingClock.Instant

    /// Creates a sweeper without holders.
    package init(now: @escaping @Sendable () -> SuspendingClock.Instant = { SuspendingClock.now }) {
        self.now = now
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "Switchboard.deadlines"))
        timer.setEventHandler { [weak self] in self?.sweep() }
        timer.activate()
    }

    deinit {
        timer.cancel()
    }

    /// Watches the deadline of a holder, if it has one now.
    package func add(_ holder: any DeadlineHolder) {
        guard let deadline = holder.deadline else { return }
        state.withLock { state in
            state.holders[ObjectIdentifier(holder)] = holder
            arm(for: deadline, &state)
        }
    }

    package func remove(_ holder: any DeadlineHolder) {
        state.withLock { $0.holders[ObjectIdentifier(holder)] = nil }
    }

    private func arm(for deadline: SuspendingClock.Instant, _ state: inout State) {
        if let next = state.next, next <= deadline { return }
        let time = now()
        // A deadline that has passed already does not make the timer late.
        let next = max(deadline, time)
        state.next = next
        timer.schedule(deadline: .now() + time.duration(to: next).dispatchInterval)
    }

    /// Ends the operations whose deadline has passed. The timer calls it.
    package func sweep() {
        let time = now()
        let holders = state.withLock { state -> [any DeadlineHolder] in
            // Another suspension may begin within the pause. A busy machine must not prolong it forever.
            let tolerance: Duration = .seconds(state.pauseEnd == nil ? 1 : 10)
            if let next = state.next, next.duration(to: time) > tolerance { state.pauseEnd = time + .seconds(2) }
            state.next = nil
            if let end = state.pauseEnd, time < end {
                arm(for: end, &state)
                return []
            }
            state.pauseEnd = nil
            return Array(state.holders.values)
        }
        for holder in holders {
            // Another holder's end may take time, and this deadline may move meanwhile.
            guard let deadline = holder.deadline else { continue }
            if deadline <= now() {
                remove(holder)
                holder.deadlinePassed()
            } else {
                state.withLock { state in
                    if state.holders[ObjectIdentifier(holder)] != nil { arm(for: deadline, &state) }
                }
            }
        }
    }
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        // Deadlines that are years away become ten days. The result then fits an Int of 32 bits.
        let (seconds, attoseconds) = min(self, .seconds(864_000)).components
        return .milliseconds(Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000) + 1)
    }
}

/// An operation that must end by a deadline. The deadline may move while it runs.
package protocol DeadlineHolder: AnyObject, Sendable {
    /// The deadline now. Nil for none.
    var deadline: SuspendingClock.Instant? { get }
    func deadlinePassed()
}
