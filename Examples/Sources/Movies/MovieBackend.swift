import Foundation
import Switchboard

/// Who answers ``MovieApi``: a server for each environment, and the key they ask for.
struct MovieBackend: Sendable {
    static let environments: [NetworkEnvironment] = [.qa, .staging, .production]

    let servers: EnvironmentURLs
    /// Where the pictures are: another server, without keys and environments.
    let images: String
    let key: String

    /// The backend of the task that makes the call. An app whose servers never change writes them down in `MovieApi` instead.
    @TaskLocal static var current = live(key: "")

    /// The real API. It has one environment.
    static func live(key: String) -> MovieBackend {
        MovieBackend(
            servers: [.production: "https://api.themoviedb.org/3/movie/"], images: "https://image.tmdb.org/t/p/w342",
            key: key)
    }

    /// One server with the environments side by side, as ``MovieServer`` has them.
    static func under(_ url: URL) -> MovieBackend {
        var root = url.absoluteString
        while root.hasSuffix("/") { root.removeLast() }
        return MovieBackend(
            servers: [
                .qa: "\(root)/qa/3/movie/",
                .staging: "\(root)/staging/3/movie/",
                .production: "\(root)/production/3/movie/",
            ], images: "\(root)/t/p/w342",
            key: MovieServer.key)
    }
}
