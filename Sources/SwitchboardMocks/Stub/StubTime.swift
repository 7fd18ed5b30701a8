import Switchboard

/// The timeouts of one answer of a ``StubSession``, measured by its clock.
struct StubTime {
    private let timeouts: Timeouts
    private let clock: any Clock<Duration>
    /// The time that has already passed.
    private let spent: Duration

    init(_ timeouts: Timeouts, _ clock: any Clock<Duration>, spent: Duration) {
        self.timeouts = timeouts
        self.clock = clock
        self.spent = spent
    }

    /// The time limit of the head, or nil without limit.
    var head: Duration? { least(timeouts.idle, timeouts.attempt) }

    /// The time left for the head.
    var restOfHead: Duration? { head.map { $0 - spent } }

    /// The longest silence within the body.
    var silence: Duration? { least(timeouts.idle, attempt) }

    /// The time left for the attempt.
    var attempt: Duration? { timeouts.attempt.map { $0 - spent } }

    var idle: Duration? { timeouts.idle }

    private func least(_ one: Duration?, _ other: Duration?) -> Duration? {
        [one, other].compactMap { $0 }.min()
    }

    /// Waits for the given time, or until the task is canceled when the time is nil, and returns the timeout error.
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
