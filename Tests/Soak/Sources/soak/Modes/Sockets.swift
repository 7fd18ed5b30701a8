import Foundation
import Switchboard
import SwitchboardWebSocket

/// WebSockets in every state. Each is canceled at a random moment, or ends by itself.
struct Sockets {
    let count: Int
    let seed: UInt64
    let server: ServerProcess
    private let router = Router<URLEndPoint>(session: CurlSession(configuration: .direct(connections: 1_024)))
    private static let atATime = 32

    func run() async -> Report {
        say("\(count) WebSockets, each canceled at a random moment, \(Self.atATime) at a time, seed \(seed)")
        let ledger = Ledger(count)
        return await ledger.report(warmUp: min(count / 2, 2_000)) { range in
            await inParallel(Self.atATime, range) { await open($0, ledger) }
        }
    }

    private func open(_ index: Int, _ ledger: Ledger) async {
        var random = SeededGenerator(seed, index)
        let life = SocketLife.allCases.randomElement(using: &random) ?? .reading
        // Some are canceled before they begin, and some end by themselves.
        let delay = random.number(0...9) == 0 ? 0 : random.number(0...12_000)
        let isCanceled = life.isEndless || random.number(0...1) == 0
        let task = Task {
            await ledger.run(index, "\(life), canceled: \(isCanceled)", permits: life.permits) {
                try await life.play(router, server.socketURL)
            }
        }
        if isCanceled {
            try? await Task.sleep(for: .microseconds(delay))
            task.cancel()
        }
        await task.value
    }
}
