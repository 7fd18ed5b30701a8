import ExampleKit
import ExampleSupport
import Switchboard

@testable import Movies

/// Runs the program with words separated by blanks.
func movies(
    _ line: String, variables: [String: String] = [:], timeouts: Timeouts = Timeouts()
) async -> (exit: ExitCode, shown: String, noted: String) {
    let outcome = await Outcome(line) { console, words in
        await Program(console: console, variables: variables, timeouts: timeouts).run(words)
    }
    return (outcome.exit, outcome.shown, outcome.noted)
}
