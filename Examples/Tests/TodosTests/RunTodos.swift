import ExampleKit
import ExampleSupport

@testable import Todos

/// Runs the program with words separated by blanks.
func todos(_ line: String) async -> Outcome {
    await Outcome(line) { console, words in await Program(console: console).run(words) }
}
