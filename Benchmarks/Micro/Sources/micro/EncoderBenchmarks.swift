import Foundation
import Movies
import Switchboard

/// Encoding parameters to a query: the library's encoder and `URLComponents`.
struct EncoderBenchmarks {
    private struct Search: Encodable {
        let query: String
        let language: String
        let page: Int
        let includeAdult: Bool
        let region: String
        let year: Int
    }

    func run(_ figures: inout MicroFigures) async throws {
        guard let url = URL(string: "https://api.themoviedb.org/3/search/movie") else { throw URLError(.badURL) }
        let form = URLEncodedFormEncoder()
        let encoder = URLParameterEncoder()
        let search = Search(
            query: "the fast & the furious", language: "en-US", page: 3, includeAdult: false, region: "US", year: 2001)
        try await figures.add("form.parameters") { consume(try form.encode(Self.parameters)) }
        try await figures.add("form.encodable") { consume(try form.encode(search)) }
        await figures.add("form.urlcomponents") {
            var components = URLComponents()
            components.queryItems = Self.items
            consume(components.percentEncodedQuery)
        }
        try await figures.add("query.parameters") {
            var request = NetworkRequest(.get, url)
            try encoder.encode(Self.parameters, into: &request)
            consume(request.url)
        }
        await figures.add("query.urlcomponents") {
            var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
            components?.queryItems = Self.items
            consume(components?.url)
        }
    }

    private static var parameters: Parameters {
        [
            "query": "the fast & the furious", "language": "en-US", "page": 3, "includeAdult": false, "region": "US",
            "year": 2001,
        ]
    }

    private static var items: [URLQueryItem] {
        [
            URLQueryItem(name: "query", value: "the fast & the furious"),
            URLQueryItem(name: "language", value: "en-US"), URLQueryItem(name: "page", value: String(3)),
            URLQueryItem(name: "includeAdult", value: String(false)), URLQueryItem(name: "region", value: "US"),
            URLQueryItem(name: "year", value: String(2001)),
        ]
    }
}
