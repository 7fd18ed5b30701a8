import Foundation
import Switchboard

/// Where a program's text goes: the terminal, or a test's notebook.
package struct Console: Sendable {
    /// Takes what was asked for.
    package let show: @Sendable (String) throws -> Void
    /// Takes everything else: the log and the reason of a failure.
    package let note: @Sendable (String) -> Void
    /// Draws over the last line of a terminal; nil where there is none, so that nothing of the kind gets into a file.
    package var draw: (@Sendable (String) -> Void)?

    package init(show: @escaping @Sendable (String) throws -> Void, note: @escaping @Sendable (String) -> Void) {
        self.show = show
        self.note = note
    }

    package static let standard: Console = {
        var console = Console(
            show: { text in
                do {
                    try FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
                } catch {
                    throw Failure(.cannotWrite, "cannot write to standard output")
                }
            },
            note: { text in
                try? FileHandle.standardError.write(contentsOf: Data((text + "\n").utf8))
            })
        console.draw = terminal
        return console
    }()

    private static var terminal: (@Sendable (String) -> Void)? {
        guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        return { text in try? FileHandle.standardError.write(contentsOf: Data(text.utf8)) }
    }
}

extension Console {
    /// Runs a program: shows the text it gives, or notes the one line that says why there is none.
    package func run(_ program: String, _ body: () async throws -> String) async -> ExitCode {
        do {
            try show(await body())
            return .success
        } catch {
            let failure = Failure(error)
            note("\(program): \(failure.message)")
            return failure.exitCode
        }
    }

    /// Runs a program with commands: reads its words, shows help where that is asked for, and leaves the rest to `body`.
    package func run<Command: CommandWord>(
        _ words: [String], help: Help<Command>, otherwise standard: Command,
        _ body: (Command, Words) async throws -> String
    ) async -> ExitCode {
        await run(help.program) {
            var words = try Words(words, options: help.allOptions)
            let command = try words.takeCommand(Command.self)
            if words.has(.help) { return help.text(for: command) }
            try words.checkOptions(of: command ?? standard)
            return try await body(command ?? standard, words)
        }
    }

    /// What `--verbose` adds to a manager: a log of what is sent and received.
    package func loggers(_ words: Words) -> [any Interceptor] {
        words.has(.verbose) ? [NetworkLogger(level: .headers, output: note)] : []
    }

    /// Performs a transfer, with a bar while it goes on where there is a terminal.
    package func withBar<Value>(
        for progress: TransferProgress, _ transfer: () async throws -> Value
    ) async throws -> Value {
        let bar = ProgressBar()
        async let drawing: Void = {
            guard let draw else { return }
            for await update in progress { draw(bar.frame(update)) }
            draw(ProgressBar.end)
        }()
        do {
            let value = try await transfer()
            await drawing
            return value
        } catch {
            progress.foundationProgress.cancel()
            throw error
        }
    }
}

extension Timeouts {
    /// How long to wait for a server: people are waiting, too.
    package static let ofExamples = Timeouts(idle: .seconds(10), total: .seconds(30))
}
