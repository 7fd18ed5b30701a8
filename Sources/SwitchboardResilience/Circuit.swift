import Switchboard
import SwitchboardPlatform

/// The state of one circuit of a ``CircuitBreaker``.
struct Circuit: Sendable {
    struct Rules: Sendable {
        let failures: Int
        let window: Duration
        let time: Duration
    }

    enum Outcome {
        case success, failure
        /// The outcome says nothing about the server.
        case nothing
    }

    /// The decision about a request. The caller passes the epoch on to ``note(_:_:at:_:)``.
    enum Admission {
        case passes(Int), probes(Int)
        /// The time until the next probe, or nil while a probe is in flight.
        case refused(Duration?)
    }

    private enum Phase {
        case closed(failures: [Duration])
        case open(until: Duration)
        case probed
    }

    private var phase = Phase.closed(failures: [])
    /// The number of phase changes. The outcome of a request that began in an earlier phase is ignored.
    private var epoch = 0

    func state(at now: Duration) -> CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open(let until): until > now ? .open(for: until - now) : .halfOpen
        case .probed: .halfOpen
        }
    }

    mutating func admit(at now: Duration) -> Admission {
        switch phase {
        case .closed: return .passes(epoch)
        case .probed: return .refused(nil)
        case .open(let until):
            guard until <= now else { return .refused(until - now) }
            enter(.probed)
            return .probes(epoch)
        }
    }

    /// Records the outcome of a request, and returns a description of the resulting change, or nil.
    mutating func note(_ outcome: Outcome, _ epoch: Int, at now: Duration, _ rules: Rules) -> String? {
        guard epoch == self.epoch else { return nil }
        switch (phase, outcome) {
        case (.closed(var failures), .failure):
            failures.removeAll { now - $0 >= rules.window }
            failures.append(now)
            guard failures.count >= rules.failures else {
                phase = .closed(failures: failures)
                return nil
            }
            enter(.open(until: now + rules.time))
            return "opens for \(rules.time.secondsText): \(failures.count) failures"
        case (.probed, .failure):
            enter(.open(until: now + rules.time))
            return "opens again for \(rules.time.secondsText): the probe failed"
        case (.probed, .success):
            enter(.closed(failures: []))
            return "closes: the probe succeeded"
        case (.probed, .nothing):
            enter(.open(until: now))
            return nil
        case (.closed, _), (.open, _): return nil
        }
    }

    /// Returns whether the circuit can be removed without loss.
    func isIdle(at now: Duration, _ rules: Rules) -> Bool {
        if case .closed(let failures) = phase { failures.allSatisfy { now - $0 >= rules.window } } else { false }
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        epoch += 1
    }
}
