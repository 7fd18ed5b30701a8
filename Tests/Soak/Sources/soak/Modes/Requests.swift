import Foundation
import Switchboard

/// Many small requests through one session, 64 at a time.
struct Requests {
    let count: Int
    let server: ServerProcess
    private static let inFlight = 64
    private static let warmUp = 10_000

    func run() async -> Report {
        say("\(count) requests, \(Self.inFlight) in flight")
        let session = CurlSession(configuration: .direct(connections: Self.inFlight))
        let ledger = Ledger(count)
        // The pool has all its connections after the warm-up.
        let warmUp = min(Self.warmUp, max(Self.inFlight, count / 2), count)
        return await ledger.report(warmUp: warmUp) { range in
            let begin = ContinuousClock.now
            // Figures are printed after each tenth, so that a leak shows while it grows.
            let step = max(1, range.count / 10)
            for first in stride(from: range.lowerBound, to: range.upperBound, by: step) {
                let last = min(first + step, range.upperBound)
                await inParallel(Self.inFlight, first..<last) { await send($0, session, ledger) }
                say("after \(last): \(Figures.now())")
            }
            let seconds = (ContinuousClock.now - begin) / .seconds(1)
            say("\(Int(Double(range.count) / seconds)) requests per second")
        }
    }

    private func send(_ index: Int, _ session: CurlSession, _ ledger: Ledger) async {
        // The first requests are slow, so that they overlap and open every connection of the pool.
        let path = index < Self.inFlight ? "slow/200/\(index)" : "small/\(index)"
        await ledger.run(index, path) {
            let response = try await session.send(NetworkRequest(.get, URL(string: server.base + path)))
            let isRight = response.statusCode == 200 && response.body == Data("answer \(index)\n".utf8)
            try check(isRight, "\(response.statusCode), \(response.text)")
        }
    }
}
