import Foundation
import Glibc
import Switchboard

/// The child process of ``Exits``: starts requests of every kind and then ends in one of several ways.
struct Leave {
    let stage: Stage
    private var random: SeededGenerator

    init(port: UInt16, fullPort: UInt16, seed: UInt64) {
        stage = Stage(base: "http://127.0.0.1:\(port)/", fullPort: fullPort)
        random = SeededGenerator(seed, 0)
        rmdir(stage.folder.path)
    }

    func play() async -> Never {
        var random = random
        for worker in 0..<32 { keepBusy(worker) }
        try? await Task.sleep(for: .microseconds(random.number(0...60_000)))
        switch random.number(0...3) {
        case 0: exit(0)
        case 1:
            Thread { exit(0) }.start()
            while true { try? await Task.sleep(for: .seconds(1)) }
        case 2:
            Task { await stage.session.shutdown() }
            exit(0)
        default:
            stage.narrow.invalidate()
            Task { exit(0) }
            while true { try? await Task.sleep(for: .seconds(1)) }
        }
    }

    /// Sends requests in sequence, even while the process ends.
    private func keepBusy(_ worker: Int) {
        Task {
            let scenes = Scene.allCases.filter { $0 != .download }
            let shared = URL(string: "\(stage.base)small/1")
            for turn in 0... {
                var random = SeededGenerator(UInt64(worker), turn)
                let scene = scenes.randomElement(using: &random) ?? .small
                try? await stage.play(scene, &random)
                _ = try? await CurlSession.shared.send(NetworkRequest(.get, shared))
            }
        }
    }
}
