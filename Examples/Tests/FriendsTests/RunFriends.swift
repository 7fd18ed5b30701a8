import ExampleKit
import ExampleSupport

@testable import Friends

/// Runs the program on words.
func friends(_ words: String...) async -> Outcome {
    await Outcome(words) { console, words in await Program(console: console).run(words) }
}
