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
        /// It says nothing about the server.
        case nothing
    }

    /// What is said to a request. The epoch is given back with its outcome.
    enum Admission {
        case passes(Int), probes(Int)
        /// For how long; nil while a probe is under way.
        case refused(Duration?)
    }

    private enum Phase {
        case closed(failures: [Duration])
        case open(until: Duration)
        case probed
    }

    private var phase = Phase.closed(failures: [])
    /// Counts the changes of phase: what began before the last one says nothing about this phase.
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

    /// Takes note of what became of a request; says what changed by it.
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

    /// Whether nothing is lost by forgetting it.
    func isIdle(at now: Duration, _ rules: Rules) -> Bool {
        if case .closed(let failures) = phase { failures.allSatisfy { now - $0 >= rules.window } } else { false }
    }

    private mutating func enter(_ phase: Phase) {
        self.phase = phase
        epoch += 1
    }
}
