import ExampleKit
import Foundation
import Switchboard

/// A valid command line.
enum Invocation: Equatable, Sendable {
    case help(Command?)
    case run(Arguments)

    /// Parses the words after the program's name.
    ///
    /// - Throws: A ``Failure`` that names the first invalid word and what is valid instead.
    init(_ words: [String]) throws(Failure) {
        var words = try Words(words, options: Command.help.allOptions)
        let command = try words.takeCommand(Command.self)
        if words.has(.help) {
            self = .help(command)
            return
        }
        let chosen = command ?? .nowPlaying
        try words.checkOptions(of: chosen)
        let call = try words.takeCall(of: chosen)
        try words.checkEnd(of: chosen)
        let output = try words.output
        if chosen == .poster, output == nil { throw Failure(.usage, "poster needs --output and the file to write") }
        let environment = try words.environment
        let source = try words.source
        if source == .live, environment != .production {
            throw Failure(.usage, "--live has no environment '\(environment.name)': use production")
        }
        self = .run(
            Arguments(
                call: call, environment: environment, source: source, isVerbose: words.has(.verbose), output: output))
    }
}

extension Words {
    /// Takes the command's page or ID and returns the call.
    fileprivate mutating func takeCall(of command: Command) throws(Failure) -> MovieApi {
        switch command {
        case .nowPlaying: .newMovies(page: try page)
        case .popular: .popular(page: try page)
        case .recommended: .recommended(id: try takeID(of: "a movie", for: command))
        case .videos: .video(id: try takeID(of: "a movie", for: command))
        case .poster: .movie(id: try takeID(of: "a movie", for: command))
        }
    }

    fileprivate var environment: NetworkEnvironment {
        get throws(Failure) {
            let known = MovieServer.environments
            guard let word = self[.environment] else { return .production }
            guard let environment = known.first(where: { $0.name == word }) else {
                throw Failure(.usage, "unknown environment '\(word)': use \(choice(known.map(\.name)))")
            }
            return environment
        }
    }

    fileprivate var source: Arguments.Source {
        get throws(Failure) {
            if has(.live), has(.server) { throw Failure(.usage, "--live and --server exclude each other: use one") }
            if has(.live) { return .live }
            return try server.map { .server($0) } ?? .embedded
        }
    }
}
