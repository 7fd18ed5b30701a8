import Foundation
import Switchboard

/// Requests of every kind. Each is canceled at a random moment.
struct Cancels {
    let count: Int
    let seed: UInt64
    let server: ServerProcess
    private static let inFlight = 48

    /// The moment when a request is canceled.
    private enum Moment {
        case before, afterwards
        case within(Duration)

        init(_ random: inout SeededGenerator, _ scene: Scene) {
            switch random.number(0...9) {
            case 0: self = .before
            case 1: self = scene.isEndless ? .within(.milliseconds(20)) : .afterwards
            case 2...5: self = .within(.microseconds(random.number(0...800)))
            default: self = .within(.microseconds(random.number(0...8_000)))
            }
        }
    }

    func run() async -> Report {
        say("\(count) requests, each cancelled at a random moment, \(Self.inFlight) at a time, seed \(seed)")
        let stage = Stage(base: server.base, fullPort: server.fullPort)
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        let ledger = Ledger(count)
        return await ledger.report(warmUp: min(count / 2, 2_000)) { range in
            await inParallel(Self.inFlight, range) { await cancel($0, stage, ledger) }
            await stage.openAllConnections(ledger)
            await stage.openAllConnections(ledger)
        }
    }

    private func cancel(_ index: Int, _ stage: Stage, _ ledger: Ledger) async {
        var random = SeededGenerator(seed, index)
        let scene = Scene.allCases.randomElement(using: &random) ?? .small
        let moment = Moment(&random, scene)
        let task = Task { [random] in
            var random = random
            if case .before = moment { withUnsafeCurrentTask { $0?.cancel() } }
            await ledger.run(index, "\(scene), cancelled \(moment)", permits: scene.permits) {
                try await stage.play(scene, &random)
            }
        }
        switch moment {
        case .before: break
        case .within(let time):
            if time > .microseconds(20) { try? await Task.sleep(for: time) }
            task.cancel()
        case .afterwards:
            await task.value
            task.cancel()
        }
        await task.value
    }
}
