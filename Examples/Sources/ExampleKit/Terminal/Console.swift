import Foundation
import Switchboard

/// The destination of a program's text: the terminal, or a notebook in tests.
package struct Console: Sendable {
    /// Writes the result.
    package let show: @Sendable (String) throws -> Void
    /// Writes everything else: the log and the reason for a failure.
    package let note: @Sendable (String) -> Void
    /// Redraws the last line of a terminal. Nil without a terminal, so that files receive no control characters.
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
    /// Runs a program and shows the text that it returns. Writes a one-line note if it fails.
    package func run(
        _ program: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> String
    ) async -> ExitCode {
        do {
            try show(await body())
            return .success
        } catch {
            let failure = Failure(error)
            note("\(program): \(failure.message)")
            return failure.exitCode
        }
    }

    /// Runs a program with commands. Parses the words and shows help on request; otherwise calls `body`.
    package func run<Command: CommandWord>(
        _ words: [String], help: Help<Command>, otherwise standard: Command,
        isolation: isolated (any Actor)? = #isolation,
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

    /// Returns the logger that `--verbose` adds to a manager, or nothing without that option.
    package func loggers(_ words: Words) -> [any Interceptor] {
        words.has(.verbose) ? [NetworkLogger(level: .headers, output: note)] : []
    }

    /// Performs a transfer and draws a progress bar if the output is a terminal.
    package func withBar<Value>(
        for progress: TransferProgress, isolation: isolated (any Actor)? = #isolation,
        _ transfer: () async throws -> Value
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
    /// The timeouts of all examples: short, because someone waits at the terminal.
    package static let ofExamples = Timeouts(idle: .seconds(10), total: .seconds(30))
}
