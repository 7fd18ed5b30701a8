import Foundation
import Switchboard

/// Numbers the calls, and records which of their revalidations have ended.
final class Ends: @unchecked Sendable {  // under its lock
    private let lock = NSLock()
    private var last = 0
    private var ended: [Int: Int] = [:]
    private var expected: [Int: Int] = [:]

    func begin() -> Int {
        lock.withLock {
            last += 1
            return last
        }
    }

    func note(_ number: Int) { lock.withLock { ended[number, default: 0] += 1 } }

    func expectTwo(_ number: Int) { lock.withLock { expected[number] = 2 } }

    /// Waits until no revalidation runs, for at most 1 s. In concurrent runs several calls share one revalidation.
    func waitForRevalidations() async {
        for _ in 0..<500 where !isSettled { try? await Task.sleep(for: .milliseconds(2)) }
        lock.withLock { expected = [:] }
    }

    private var isSettled: Bool { lock.withLock { expected.allSatisfy { ended[$0.key, default: 0] >= $0.value } } }

    func print(_ line: some Encodable) {
        guard let data = try? JSONEncoder().encode(line) else { return }
        lock.withLock { Swift.print(String(decoding: data, as: UTF8.self)) }
    }
}

/// Counts the ends of a call and of the revalidation with its monitors.
struct EndMonitor: EventMonitor {
    private let ends: Ends
    private let number: Int

    init(_ ends: Ends, _ number: Int) {
        (self.ends, self.number) = (ends, number)
    }

    func record(_ event: CallEvent) {
        switch event.kind {
        case .finished, .failed, .cancelled: ends.note(number)
        default: break
        }
    }
}
