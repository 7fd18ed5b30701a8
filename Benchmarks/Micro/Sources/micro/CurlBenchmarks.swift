import Foundation
import Movies
import Switchboard

/// Requests for a page over libcurl, one at a time on a kept-alive connection. The server is a separate process.
struct CurlBenchmarks {
    func run(_ figures: inout MicroFigures) async throws {
        guard let url = URL(string: Loopback.page) else { throw UsageError(text: "--url is not a URL") }
        NetworkEnvironment.default = .loopback
        defer { NetworkEnvironment.default = .production }
        let session = CurlSession()
        let plain = Router<MovieApi>(session: session)
        let router = Router<MovieApi>(session: session, interceptors: FiveInterceptors.make())
        try await figures.add("curl.session") {
            consume(try await session.send(NetworkRequest(.get, url, headers: [.accept("application/json")])))
        }
        try await figures.add("curl.router") { consume(try await plain.response(for: .newMovies(page: 1))) }
        try await figures.add("curl.router-and-five") {
            consume(try await router.response(for: .newMovies(page: 1)))
        }
        try await figures.add("curl.typed") {
            consume(try await router.request(.newMovies(page: 1), as: MoviePage.self))
        }
    }
}
