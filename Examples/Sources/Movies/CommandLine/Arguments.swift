import Foundation
import Switchboard

/// The parsed command line.
struct Arguments: Equatable, Sendable {
    /// The server that answers.
    enum Source: Equatable, Sendable {
        case embedded
        case server(URL)
        case live
    }

    var call = MovieApi.newMovies(page: 1)
    var environment = NetworkEnvironment.production
    var source = Source.embedded
    var isVerbose = false
    /// The file for the poster. If set, `call` requests the poster's movie.
    var output: URL?
}
