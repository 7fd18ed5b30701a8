import Foundation
import Switchboard

/// Sessions that are created, used briefly and released, in every possible state.
struct Sessions {
    let count: Int
    let seed: UInt64
    let server: ServerProcess
    private static let atATime = 8

    func run() async -> Report {
        say("\(count) sessions created, used and released, \(Self.atATime) at a time, seed \(seed)")
        let ledger = Ledger(count)
        var report = await ledger.report(warmUp: min(count / 2, 400), leavesNothing: true) { range in
            await inParallel(Self.atATime, range) { await make($0, ledger) }
        }
        let left = report.end.descriptors - report.start.descriptors
        if left > 0 { report.faults.append("sessions left \(left) descriptors open") }
        report.faults += await keepOne(report.end)
        return report
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

    private func make(_ index: Int, _ ledger: Ledger) async {
        var random = SeededGenerator(seed, index)
        let life = SessionLife.allCases.randomElement(using: &random) ?? .used
        await ledger.run(index, "\(life)") { try await life.play(server.base, &random) }
    }
}
