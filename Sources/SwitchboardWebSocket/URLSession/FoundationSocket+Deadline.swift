import Switchboard
import SwitchboardPlatform

extension FoundationSocket: DeadlineHolder {
    /// The time that URLSession has for its other reports after the first one.
    private static let grace = Duration.seconds(2)

    /// The end of the handshake's timeouts, or of the wait for URLSession's reports.
    package var deadline: ContinuousClock.Instant? {
        let timeouts = request.timeouts
        return state.withLock { state in
            guard state.isOpen else {
                return [timeouts.idle, timeouts.attempt].compactMap { $0.map { start + $0.clamped } }.min()
            }
            // A reader that has not asked yet may still get messages.
            guard let time = state.report.time, let asked = state.receiving else { return nil }
            // URLSession fails the receives at once when this side closes. The answer has `webSocket.closeTimeout`.
            guard state.closing == nil || state.report.close != nil || state.report.isComplete else { return nil }
            return max(time, asked) + Self.grace
        }
    }

    package func deadlinePassed() {
        guard let deadline, deadline <= .now else { return deadlines.add(self) }
        guard !state.withLock({ $0.isOpen }) else { return endAsReported() }
        fail(request.timeouts.error(since: start))
    }
}
