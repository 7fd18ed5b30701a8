import Foundation
import Movies
import Switchboard

/// Building a request from an endpoint, with the library and with Foundation alone.
struct RequestBenchmarks {
    private let base = URL(string: "https://api.themoviedb.org/3/movie/")

    func run(_ figures: inout MicroFigures) async throws {
        let router = Router<MovieApi>(session: EmptySession())
        var page = 0
        let expected = try url(forPage: 7)
        guard try router.makeRequest(for: .newMovies(page: 7)).url == expected else {
            throw UnexpectedAnswer(description: "the library and Foundation build different URLs")
        }
        try await figures.add("request.switchboard") {
            page += 1
            consume(try router.makeRequest(for: .newMovies(page: page)))
        }
        try await figures.add("request.switchboard-no-parameters") {
            page += 1
            consume(try router.makeRequest(for: .video(id: page)))
        }
        try await figures.add("request.urlcomponents") {
            page += 1
            var request = URLRequest(url: try url(forPage: page))
            request.httpMethod = "GET"
            request.setValue("application/json", forHTTPHeaderField: "Accept")
            consume(request)
        }
    }

    private func url(forPage page: Int) throws -> URL {
        guard let base, var components = URLComponents(string: base.absoluteString + "now_playing") else {
            throw URLError(.badURL)
        }
        components.queryItems = [
            URLQueryItem(name: "page", value: String(page)), URLQueryItem(name: "api_key", value: MovieKey.value),
        ]
        guard let url = components.url else { throw URLError(.badURL) }
        return url
    }
}

/// Returns an empty response. These benchmarks only build requests.
private struct EmptySession: NetworkSession {
    func send(_ request: NetworkRequest) async throws -> NetworkResponse { NetworkResponse(statusCode: 204) }
}
