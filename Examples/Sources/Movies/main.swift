import ExampleKit
import Foundation

// `swift run --package-path Examples movies --help` lists the commands and options.
let program = Program(console: .standard, variables: ProcessInfo.processInfo.environment)
let outcome = await program.run(Array(CommandLine.arguments.dropFirst()))
exit(outcome.rawValue)
