import Foundation
import Switchboard
import SwitchboardWebSocket

/// WebSockets in every state. Each is canceled at a random moment, or ends by itself.
struct Sockets {
    private let count: Int
    private let seed: UInt64
    private let server: ServerProcess
    private let router: Router<URLEndPoint>
    private static let atATime = 32

    init(count: Int, seed: UInt64, _ server: ServerProcess) {
        self.count = count
        self.seed = seed
        self.server = server
        router = Router(session: CurlSession(configuration: .direct(connections: 1_024)))
    }

    func run() async -> Report {
        say("\(count) WebSockets, each canceled at a random moment, \(Self.atATime) at a time, seed \(seed)")
        let ledger = Ledger(count)
        Watchdog.watch(ledger)
        let start = await Figures.settled()
        let warmUp = max(1, min(count / 2, 2_000))
        await inParallel(Self.atATime, 0..<warmUp) { await open($0, ledger) }
        let warm = await Figures.settled()
        await inParallel(Self.atATime, warmUp..<count) { await open($0, ledger) }
        let end = await Figures.settled(goal: warm)
        say(ledger.outcomes)
        return withExtendedLifetime(router) {
            Report(
                start: start, warm: warm, end: end, warmUp: "after \(warmUp)", outcome: ledger.outcome,
                faults: ledger.faults)
        }
    }

    private func open(_ index: Int, _ ledger: Ledger) async {
        var random = Seeded(seed, index)
        let life = SocketLife.allCases.randomElement(using: &random) ?? .reading
        // Some are canceled before they begin, and some end by themselves.
        let delay = random.number(0...9) == 0 ? 0 : random.number(0...12_000)
        let isCanceled = life.isEndless || random.number(0...1) == 0
        ledger.begin(index, "\(life), canceled: \(isCanceled)")
        let task = Task {
            do {
                try await life.play(router, server.socketURL)
                ledger.end(index, "ended")
            } catch is CancellationError {
                ledger.end(index, "canceled")
            } catch let error as NetworkError where error.code == .cancelled {
                ledger.end(index, "canceled")
            } catch let error as NetworkError where life.permits(error.code) {
                ledger.end(index, error.code.rawValue)
            } catch {
                ledger.fault("socket \(index), \(life): \(error)")
                ledger.end(index, "wrong")
            }
        }
        if isCanceled {
            try? await Task.sleep(for: .microseconds(delay))
            task.cancel()
        }
        await task.value
    }
}
