import Foundation

/// The clock of the cache and, by a header field, of the origin.
final class Clock: @unchecked Sendable {  // under its lock
    private let lock = NSLock()
    private var time = 1_700_000_000.0

    var now: Date { lock.withLock { Date(timeIntervalSince1970: time) } }

    func advance(by seconds: Double) { lock.withLock { time += seconds } }
}
