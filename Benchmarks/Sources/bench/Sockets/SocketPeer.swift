import Foundation

/// A WebSocket client.
protocol SocketPeer: Sendable {
    /// Opens a connection, echoes messages as long as the schedule lasts, and returns the number of those that count.
    func echo(_ schedule: EchoSchedule) async throws -> Int
}

/// The time in which messages count, the same for all connections of a process.
struct EchoSchedule: Sendable {
    /// A message, the same for all clients.
    static let message = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    private let start: ContinuousClock.Instant
    private let end: ContinuousClock.Instant

    init(after warmUp: Duration, lasting duration: Duration) {
        start = .now + warmUp
        end = start + duration
    }

    /// Returns the CPU in microseconds that the process used while messages counted, and the length of that time.
    func usage() async throws -> (cpu: Double, seconds: Double) {
        try await Task.sleep(until: start, clock: .continuous)
        let (cpu, began) = (ProcessUsage.cpuMicroseconds, ContinuousClock.now)
        try await Task.sleep(until: end, clock: .continuous)
        return (ProcessUsage.cpuMicroseconds - cpu, (.now - began) / .seconds(1))
    }

    /// Runs `exchange` until the end, and returns the number of runs that ended in the time that counts.
    func run(_ exchange: () async throws -> Void) async throws -> Int {
        var count = 0
        while true {
            try await exchange()
            let now = ContinuousClock.now
            if now > end { return count }
            if now > start { count += 1 }
        }
    }
}
