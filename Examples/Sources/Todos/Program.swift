import ExampleKit
import Foundation
import Switchboard

/// The whole program. Receives the words of the command line, writes text and returns an exit code.
struct Program: Sendable {
    let console: Console
    var timeouts = Timeouts.ofExamples

    func run(_ words: [String]) async -> ExitCode {
        await console.run(words, help: Command.help, otherwise: .tour) { command, words in
            try await EmbeddedServer.run(unless: words.server, TodoServer().answer) { url in
                let manager = NetworkManager.todos(at: url, interceptors: console.loggers(words), timeouts: timeouts)
                return try await command.perform(words, with: TodoService(manager: manager))
            }
        }
    }
}
