import ExampleKit
import Foundation

// `swift run --package-path Examples uploads --help` lists the commands and options.
let outcome = await Program(console: .standard).run(Array(CommandLine.arguments.dropFirst()))
exit(outcome.rawValue)
