import Foundation
import Switchboard

/// What the program was asked to do.
struct Arguments: Equatable, Sendable {
    /// Who answers.
    enum Source: Equatable, Sendable {
        case embedded
        case server(URL)
        case live
    }

    var call = MovieApi.newMovies(page: 1)
    var environment = NetworkEnvironment.production
    var source = Source.embedded
    var isVerbose = false
    /// Where the poster goes; the call is that for its movie then.
    var output: URL?
}

/// The first word that is not an option.
enum Command: String, CaseIterable, Sendable {
    case nowPlaying = "now-playing"
    case popular
    case recommended
    case videos
    case poster

    /// Whether it shows pages. The others are about one movie.
    var hasPages: Bool { self == .nowPlaying || self == .popular }
}

/// A word that begins with a dash.
enum Option: String, CaseIterable, Sendable {
    case page = "--page"
    case output = "--output"
    case environment = "--environment"
    case server = "--server"
    case verbose = "--verbose"
    case live = "--live"
    case help = "--help"

    /// What has to follow it, or nil for a switch.
    var value: String? {
        switch self {
        case .page: "a whole number from 1"
        case .output: "the file to write"
        case .environment: "qa, staging or production"
        case .server: "a URL such as http://127.0.0.1:8080"
        case .verbose, .live, .help: nil
        }
    }
}
