import SwitchboardCache
import ExampleKit
import Foundation
import Switchboard

/// The whole program. Receives the words of the command line, writes text and returns an exit code.
struct Program: Sendable {
    let console: Console
    var timeouts = Timeouts.ofExamples

    func run(_ words: [String]) async -> ExitCode {
        await console.run(words, help: Command.help, otherwise: .tour) { command, words in
            try await EmbeddedServer.run(unless: words.server, FriendsServer().answer) { url in
                let (cache, counter) = (ResponseCache(), RequestCounter())
                let manager = NetworkManager.friends(
                    at: url, of: 1, token: words[.token] ?? FriendsServer.token, cache: cache,
                    interceptors: console.loggers(words), monitors: [counter], timeouts: timeouts)
                let service = FriendsService(manager: manager, cache: cache)
                return try await command.perform(words, with: service, counter)
            }
        }
    }
}
