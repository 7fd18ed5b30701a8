import ExampleKit
import Foundation

// `swift run --package-path Examples uploads --help` says what there is.
let outcome = await Program(console: .standard).run(Array(CommandLine.arguments.dropFirst()))
exit(outcome.rawValue)
