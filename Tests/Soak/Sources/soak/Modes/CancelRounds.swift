import Foundation
import Switchboard
import SwitchboardCalls

/// Calls of one router over one session. Each is canceled at a random moment by router, progress, handle, task or
/// reset.
struct CancelRounds {
    let count: Int
    let seed: UInt64
    let router: Router<URLEndPoint>
    let server: ServerProcess
    private static let inFlight = 12

    private enum Means {
        case router, progress, handle, task, reset

        init(_ random: inout SeededGenerator) {
            // The router cancels all calls in flight. If it did so more often, few calls would get far.
            self =
                switch random.number(0...39) {
                case 0: .reset
                case 1...4: .router
                case 5...15: .progress
                case 16...27: .handle
                default: .task
                }
        }
    }

    func run() async throws -> Report {
        say("\(count) calls, each cancelled at a random moment, \(Self.inFlight) at a time, seed \(seed)")
        let stage = try CancelStage(base: server.url)
        defer { try? FileManager.default.removeItem(at: stage.folder) }
        let ledger = Ledger(count)
        // The session may keep a connection for each call in flight, and the warm-up may have opened fewer.
        var report = await ledger.report(warmUp: min(count / 2, 2_000), slack: Self.inFlight) { range in
            await inParallel(Self.inFlight, range) { await cancel($0, stage, ledger) }
        }
        if !stage.remnants.isEmpty { report.faults.append("\(stage.remnants.count) files were left behind") }
        return report
    }

    private func cancel(_ index: Int, _ stage: CancelStage, _ ledger: Ledger) async {
        var random = SeededGenerator(seed, index)
        let means = Means(&random)
        let calls = CancelledCall.allCases.filter { means != .progress || $0.hasProgress }
        let call = calls.randomElement(using: &random) ?? .plain
        let what = "\(call), cancelled by \(means)"
        ledger.begin(index, what)
        let progress = call.hasProgress ? TransferProgress() : nil
        let ended = Locked(false)
        let network = NetworkCall { try await call.make(router, stage, progress) }
        @Sendable func end(_ error: (any Error)?) {
            ended.withLock { $0 = true }
            ledger.end(index, what, error) {
                $0 is CancellationError || [.cancelled, .resetInProgress].contains(($0 as? NetworkError)?.code)
            }
        }
        var handle: RequestHandle?
        var task: Task<Void, Never>?
        if means == .handle {
            handle = network.start { result in
                switch result {
                case .success: end(nil)
                case .failure(let error): end(error)
                }
            }
        } else {
            task = Task {
                do {
                    try await network.value
                    end(nil)
                } catch {
                    end(error)
                }
            }
        }
        try? await Task.sleep(for: .microseconds(random.number(0...6_000)))
        // Repeats until the call has ended, because the router cannot cancel a call that has not begun.
        repeat {
            switch means {
            case .router: router.cancel()
            case .reset: await router.reset()
            case .progress: progress?.foundationProgress.cancel()
            case .handle: handle?.cancel()
            case .task: task?.cancel()
            }
            try? await Task.sleep(for: .milliseconds(1))
        } while !ended.withLock { $0 }
        await task?.value
    }
}
