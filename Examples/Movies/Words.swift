import Foundation
import Switchboard

/// The words of a command line, options apart from operands.
struct Words {
    private(set) var operands: [String] = []
    private(set) var options: [Option: String] = [:]

    init(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                return
            }
            guard word.hasPrefix("-"), Int(word) == nil else {
                operands.append(word)
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard let option = parts[0] == "-h" ? .help : Option(rawValue: parts[0]) else {
                throw Failure(.usage, "unknown option '\(parts[0])': use \(choice(Option.allCases.map(\.rawValue)))")
            }
            options[option] = try value(of: option, inWord: parts.dropFirst().first, else: &rest)
        }
    }

    private func value(
        of option: Option, inWord value: String?, else rest: inout ArraySlice<String>
    ) throws(Failure) -> String {
        guard let expected = option.value else {
            if let value { throw Failure(.usage, "\(option.rawValue) takes no value, and got '\(value)'") }
            return ""
        }
        if let value { return value }
        guard let next = rest.first, !next.hasPrefix("--") else {
            throw Failure(.usage, "\(option.rawValue) needs a value: \(expected)")
        }
        rest.removeFirst()
        return next
    }
}

extension Words {
    /// The command, or nil if there is none.
    mutating func takeCommand() throws(Failure) -> Command? {
        guard let word = operands.first else { return nil }
        guard let command = Command(rawValue: word) else {
            throw Failure(.usage, "unknown command '\(word)': use \(choice(Command.allCases.map(\.rawValue)))")
        }
        operands.removeFirst()
        return command
    }

    /// The command with its page or its ID.
    mutating func takeCall(of command: Command) throws(Failure) -> MovieApi {
        if options[.page] != nil, !command.hasPages {
            throw Failure(.usage, "\(command.rawValue) takes no --page: it goes with now-playing and popular")
        }
        return switch command {
        case .nowPlaying: .newMovies(page: try page)
        case .popular: .popular(page: try page)
        case .recommended: .recommended(id: try takeID(for: command))
        case .videos: .video(id: try takeID(for: command))
        case .poster: .movie(id: try takeID(for: command))
        }
    }

    /// The file of `--output`, which goes with a poster, and without which there is none.
    func output(of command: Command) throws(Failure) -> URL? {
        guard let path = options[.output] else {
            guard command != .poster else { throw Failure(.usage, "poster needs --output and the file to write") }
            return nil
        }
        guard command == .poster else {
            throw Failure(.usage, "\(command.rawValue) takes no --output: it goes with poster")
        }
        guard !path.isEmpty, !path.hasSuffix("/") else { throw Failure(.usage, "'\(path)' is not a file to write") }
        return URL(fileURLWithPath: path)
    }

    private mutating func takeID(for command: Command) throws(Failure) -> Int {
        guard let word = operands.first else {
            throw Failure(.usage, "\(command.rawValue) needs the ID of a movie: a whole number from 1")
        }
        guard let id = Int(word), id >= 1 else {
            throw Failure(.usage, "'\(word)' is not the ID of a movie: use a whole number from 1")
        }
        operands.removeFirst()
        return id
    }

    private var page: Int {
        get throws(Failure) {
            guard let word = options[.page] else { return 1 }
            guard let page = Int(word), page >= 1 else {
                throw Failure(.usage, "'\(word)' is not a page: use a whole number from 1")
            }
            return page
        }
    }

    var environment: NetworkEnvironment {
        get throws(Failure) {
            let known = MovieBackend.environments
            guard let word = options[.environment] else { return .production }
            guard let environment = known.first(where: { $0.name == word }) else {
                throw Failure(.usage, "unknown environment '\(word)': use \(choice(known.map(\.name)))")
            }
            return environment
        }
    }

    var source: Arguments.Source {
        get throws(Failure) {
            guard let word = options[.server] else { return options[.live] == nil ? .embedded : .live }
            guard options[.live] == nil else {
                throw Failure(.usage, "--live and --server exclude each other: use one")
            }
            guard let url = URL(string: word), ["http", "https"].contains(url.scheme?.lowercased()),
                url.host?.isEmpty == false, 1...65_535 ~= url.port ?? 80, url.query == nil, url.fragment == nil
            else {
                throw Failure(.usage, "'\(word)' is not a server: use a URL such as http://127.0.0.1:8080")
            }
            return .server(url)
        }
    }
}

/// `a, b or c`
private func choice(_ words: [String]) -> String {
    words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
}
