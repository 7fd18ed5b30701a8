import ExampleKit
import ExampleSupport

@testable import Uploads

/// Runs the program with words.
func uploads(_ words: String...) async -> Outcome {
    await Outcome(words) { console, words in await Program(console: console).run(words) }
}
