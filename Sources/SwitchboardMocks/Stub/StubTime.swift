import Switchboard

/// The timeouts of one answer of a ``StubSession``, by its clock.
struct StubTime {
    private let timeouts: Timeouts
    private let clock: any Clock<Duration>
    /// What has passed already.
    private let spent: Duration

    init(_ timeouts: Timeouts, _ clock: any Clock<Duration>, spent: Duration) {
        self.timeouts = timeouts
        self.clock = clock
        self.spent = spent
    }

    /// The time in which the head has to be there; nil without limit.
    var head: Duration? { least(timeouts.idle, timeouts.attempt) }

    /// What is left of that.
    var restOfHead: Duration? { head.map { $0 - spent } }

    /// How long a silence within the body may last.
    var silence: Duration? { least(timeouts.idle, attempt) }

    /// What is left of the attempt.
    var attempt: Duration? { timeouts.attempt.map { $0 - spent } }

    var idle: Duration? { timeouts.idle }

    private func least(_ one: Duration?, _ other: Duration?) -> Duration? {
        [one, other].compactMap { $0 }.min()
    }

    /// Waits until a time has passed, for ever without one, and gives the error that says so.
    ///
    /// - Throws: `CancellationError`.
    func out(after time: Duration?) async throws -> NetworkError {
        while time == nil { try await sleep(for: .seconds(86_400)) }
        if let time, time > .zero { try await sleep(for: time) }
        return NetworkError(.timedOut, reason: "StubSession: timeout: no data within the request's timeouts")
    }

    func sleep(for duration: Duration) async throws {
        do {
            try await clock.sleep(for: duration)
            try Task.checkCancellation()
        } catch {
            throw CancellationError()
        }
    }
}
