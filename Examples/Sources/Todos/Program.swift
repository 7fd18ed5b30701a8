import ExampleKit
import Foundation
import Switchboard
import SwitchboardInspector

/// The whole program. Receives the words of the command line, writes text and returns an exit code.
struct Program: Sendable {
    let console: Console
    var timeouts = Timeouts.ofExamples
    /// Waits while `--inspect` shows the calls, failed ones too.
    var pause: @Sendable () async -> Void = Self.untilReturn

    func run(_ words: [String]) async -> ExitCode {
        await console.run(words, help: Command.help, otherwise: .tour) { command, words in
            try await EmbeddedServer.run(unless: words.server, TodoServer().answer) { url in
                let inspector = try await NetworkInspector.start(isEnabled: words.has(.inspect))
                let manager = NetworkManager.todos(
                    at: url, interceptors: console.loggers(words), monitors: [inspector], timeouts: timeouts)
                let text: String
                do {
                    text = try await command.perform(words, with: TodoService(manager: manager))
                } catch {
                    // Wrong words cause no call.
                    if inspector.url != nil, Failure(error).exitCode != .usage { await showPage(of: inspector) }
                    throw error
                }
                guard inspector.url != nil else { return text }
                try console.show(text)
                await showPage(of: inspector)
                return "The page has ended."
            }
        }
    }

    private func showPage(of inspector: NetworkInspector) async {
        console.note("Press Return to end.")
        await pause()
        inspector.stop()
    }

    /// Returns when a line, or the end of standard input, was read.
    private static func untilReturn() async {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                _ = readLine()
                done.resume()
            }
        }
    }
}
