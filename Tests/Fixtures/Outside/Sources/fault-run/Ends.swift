import Foundation
import Switchboard

/// Records how calls ended, and counts the retries.
final class Ends: EventMonitor, @unchecked Sendable {  // under its lock
    private let lock = NSLock()
    private var counts: [Int: Int] = [:]
    private var words: [String: Int] = [:]
    private var late: [Int] = []
    private var right: Set<Int> = []
    private var wrong: [Int] = []
    private var tries = 0
    private var clock = Duration.zero

    var ended: [Int: Int] { lock.withLock { counts } }
    var outcomes: [String: Int] { lock.withLock { words } }
    var overdue: [Int] { lock.withLock { late } }
    /// The calls that got the server's answer.
    var answered: Set<Int> { lock.withLock { right } }
    /// The calls whose success was not the server's answer.
    var wrongAnswers: [Int] { lock.withLock { wrong } }
    var retries: Int { lock.withLock { tries } }
    /// The time that this process ran.
    var time: Duration { lock.withLock { clock } }

    func record(_ event: CallEvent) {
        if case .retry = event.kind { lock.withLock { tries += 1 } }
    }

    /// Starts a thread that measures the time, a tenth of a second at once, so a pause of the machine counts as one.
    func startClock() {
        Thread.detachNewThread { [self] in
            while true {
                Thread.sleep(forTimeInterval: 0.1)
                lock.withLock { clock += .milliseconds(100) }
            }
        }
    }

    /// Records the end of a call. Returns false when it is not the first.
    func end(_ plan: Plan, _ result: Result<String, NetworkError>, after time: Duration, tolerance: Duration) -> Bool {
        lock.withLock {
            counts[plan.id, default: 0] += 1
            switch result {
            case .success(let text):
                words["answered", default: 0] += 1
                if text == plan.answer { right.insert(plan.id) } else { wrong.append(plan.id) }
            case .failure(let error): words[error.statusCode.map { "\($0)" } ?? "\(error.code)", default: 0] += 1
            }
            if time > plan.total + tolerance { late.append(plan.id) }
            return counts[plan.id] == 1
        }
    }
}
