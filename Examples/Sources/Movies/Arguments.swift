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
