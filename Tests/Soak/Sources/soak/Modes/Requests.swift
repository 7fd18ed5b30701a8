import Foundation
import Switchboard

/// Many small requests through one session, 64 at a time.
struct Requests {
    private let count: Int
    private let server: ServerProcess
    private static let inFlight = 64
    private static let warmUp = 10_000

    init(count: Int, _ server: ServerProcess) {
        self.count = count
        self.server = server
    }

    func run() async -> Report {
        say("\(count) requests, \(Self.inFlight) in flight")
        let session = CurlSession(configuration: .direct(connections: Self.inFlight))
        let ledger = Ledger(count)
        Watchdog.watch(ledger)
        let start = await Figures.settled()
        let warmUp = min(Self.warmUp, count)
        await send(0..<warmUp, session, ledger)
        let warm = await Figures.settled()
        let begin = ContinuousClock.now
        // Figures are printed after each tenth, so that a leak shows while it grows.
        let step = max(1, (count - warmUp) / 10)
        for first in stride(from: warmUp, to: count, by: step) {
            let last = min(first + step, count)
            await send(first..<last, session, ledger)
            let figures = Figures.now()
            say("after \(last): \(figures)")
        }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        say("\(Int(Double(count - warmUp) / seconds)) requests per second")
        let end = await Figures.settled(goal: warm)
        return withExtendedLifetime(session) {
            Report(
                start: start, warm: warm, end: end, warmUp: "after \(warmUp)", outcome: ledger.outcome,
                faults: ledger.faults)
        }
    }

    private func send(_ range: Range<Int>, _ session: CurlSession, _ ledger: Ledger) async {
        await inParallel(Self.inFlight, range) { await send($0, session, ledger) }
    }

    private func send(_ index: Int, _ session: CurlSession, _ ledger: Ledger) async {
        ledger.begin(index, "GET small")
        // The first requests are slow, so that they overlap and open every connection of the pool.
        let path = index < Self.inFlight ? "slow/200/\(index)" : "small/\(index)"
        do {
            let response = try await session.send(NetworkRequest(.get, URL(string: server.base + path)))
            if response.statusCode != 200 || response.body != Data("answer \(index)\n".utf8) {
                ledger.fault("request \(index): \(response.statusCode), \(response.text)")
            }
        } catch {
            ledger.fault("request \(index): \(error)")
        }
        ledger.end(index, nil)
    }
}
