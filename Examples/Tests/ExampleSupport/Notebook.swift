import ExampleKit
import Foundation

/// Records the output and the notes of a program.
package final class Notebook: @unchecked Sendable {  // everything under `lock`
    private let lock = NSLock()
    private var texts: (shown: [String], noted: [String]) = ([], [])

    package init() {}

    package var shown: String { lock.withLock { texts.shown.joined(separator: "\n") } }
    package var noted: String { lock.withLock { texts.noted.joined(separator: "\n") } }

    package var console: Console {
        Console(
            show: { [self] text in lock.withLock { texts.shown.append(text) } },
            note: { [self] text in lock.withLock { texts.noted.append(text) } })
    }
}

/// The result of a program's run.
package struct Outcome: Sendable {
    package let exit: ExitCode
    package let shown: String
    package let noted: String

    /// Runs a program with words separated by blanks.
    package init(_ line: String, of program: (Console, [String]) async -> ExitCode) async {
        await self.init(line.split(separator: " ").map(String.init), of: program)
    }

    /// Runs a program with words.
    package init(_ words: [String], of program: (Console, [String]) async -> ExitCode) async {
        let notebook = Notebook()
        exit = await program(notebook.console, words)
        shown = notebook.shown
        noted = notebook.noted
    }
}
