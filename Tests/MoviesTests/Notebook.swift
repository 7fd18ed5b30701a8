import Foundation
import Switchboard

@testable import Movies

/// Keeps what a program shows and notes.
final class Notebook: @unchecked Sendable {  // everything under `lock`
    private let lock = NSLock()
    private var texts: (shown: [String], noted: [String]) = ([], [])

    var shown: String { lock.withLock { texts.shown.joined(separator: "\n") } }
    var noted: String { lock.withLock { texts.noted.joined(separator: "\n") } }

    var console: Console {
        Console(
            show: { [self] text in lock.withLock { texts.shown.append(text) } },
            note: { [self] text in lock.withLock { texts.noted.append(text) } })
    }
}

/// Runs the program on words separated by blanks.
func movies(
    _ line: String, variables: [String: String] = [:], timeouts: Timeouts = Timeouts()
) async -> (exit: ExitCode, shown: String, noted: String) {
    let notebook = Notebook()
    let words = line.split(separator: " ").map(String.init)
    let exit = await Program(console: notebook.console, variables: variables, timeouts: timeouts).run(words)
    return (exit, notebook.shown, notebook.noted)
}
