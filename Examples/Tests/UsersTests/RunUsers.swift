import ExampleKit
import ExampleSupport

@testable import Users

/// Runs the program with words separated by blanks.
func users(_ line: String) async -> Outcome {
    await Outcome(line) { console, words in await Program(console: console).run(words) }
}
