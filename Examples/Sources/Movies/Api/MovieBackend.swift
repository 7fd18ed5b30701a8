import Foundation
import Switchboard

/// The servers of ``MovieApi``, one for each environment, and their key.
struct MovieBackend: Sendable {
    let servers: EnvironmentURLs
    /// The server of the pictures, without keys and environments.
    let images: String
    let key: String

    /// The backend of the current task. An app whose servers never change names them in `MovieApi` instead.
    @TaskLocal static var current = live(key: "")

    /// Returns the real API, which has one environment.
    static func live(key: String) -> MovieBackend {
        MovieBackend(
            servers: [.production: "https://api.themoviedb.org/3/movie/"], images: "https://image.tmdb.org/t/p/w342",
            key: key)
    }

    /// Returns a server with all environments under one URL, as ``MovieServer`` serves them.
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
