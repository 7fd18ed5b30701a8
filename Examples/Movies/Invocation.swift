import Foundation
import Switchboard

/// A command line that makes sense.
enum Invocation: Equatable, Sendable {
    case help(Command?)
    case run(Arguments)

    /// Reads the words after the program's name.
    ///
    /// Options may stand before and after the command, as `--page 2` or `--page=2`; the last of two wins.
    ///
    /// - Throws: A ``Failure`` that names the first word that makes no sense, and what would.
    init(_ words: [String]) throws(Failure) {
        var words = try Words(words)
        let command = try words.takeCommand()
        if words.options[.help] != nil {
            self = .help(command)
            return
        }
        let chosen = command ?? .nowPlaying
        let call = try words.takeCall(of: chosen)
        if let extra = words.operands.first {
            let allowed = chosen.hasPages ? "options only" : "one ID"
            throw Failure(.usage, "unexpected argument '\(extra)': \(chosen.rawValue) takes \(allowed)")
        }
        let output = try words.output(of: chosen)
        let environment = try words.environment
        let source = try words.source
        if source == .live, environment != .production {
            throw Failure(.usage, "--live has no environment '\(environment.name)': use production")
        }
        self = .run(
            Arguments(
                call: call, environment: environment, source: source, isVerbose: words.options[.verbose] != nil,
                output: output))
    }
}
