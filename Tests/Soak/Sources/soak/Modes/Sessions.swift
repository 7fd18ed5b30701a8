import Foundation
import Switchboard

/// Sessions that are created, used briefly and released, in every possible state.
struct Sessions {
    private let count: Int
    private let seed: UInt64
    private let server: ServerProcess
    private static let atATime = 8

    init(count: Int, seed: UInt64, _ server: ServerProcess) {
        self.count = count
        self.seed = seed
        self.server = server
    }

    func run() async -> Report {
        say("\(count) sessions created, used and released, \(Self.atATime) at a time, seed \(seed)")
        let ledger = Ledger(count)
        Watchdog.watch(ledger)
        let start = await Figures.settled()
        let warmUp = max(1, min(count / 2, 400))
        await make(0..<warmUp, ledger)
        let warm = await Figures.settled(goal: start)
        await make(warmUp..<count, ledger)
        let end = await Figures.settled(goal: warm)
        var faults = ledger.faults
        if end.descriptors > start.descriptors {
            faults.append("sessions left \(end.descriptors - start.descriptors) descriptors open")
        }
        faults += await keepOne(end)
        return Report(
            start: start, warm: warm, end: end, warmUp: "after \(warmUp)", outcome: ledger.outcome, faults: faults)
    }

    /// Checks that a session that was shut down has no connections while a reference to it remains.
    private func keepOne(_ before: Figures) async -> [String] {
        let session = SoakedSession(server.base, connections: 6)
        let flight = session.inFlight()
        try? await Task.sleep(for: .milliseconds(50))
        await session.curl.shutdown()
        _ = await flight.result
        // The session may keep two descriptors to wait with: an epoll and an eventfd.
        let left = Figures.now().descriptors - before.descriptors - 2
        return withExtendedLifetime(session) {
            left > 0 ? ["a session that was shut down kept \(left) descriptors open"] : []
        }
    }

    private func make(_ range: Range<Int>, _ ledger: Ledger) async {
        await inParallel(Self.atATime, range) { await make($0, ledger) }
    }

    private func make(_ index: Int, _ ledger: Ledger) async {
        var random = Seeded(seed, index)
        let life = SessionLife.allCases.randomElement(using: &random) ?? .used
        ledger.begin(index, "\(life)")
        do {
            try await life.play(server.base, &random)
        } catch {
            ledger.fault("session \(index), \(life): \(error)")
        }
        ledger.end(index, nil)
    }
}
