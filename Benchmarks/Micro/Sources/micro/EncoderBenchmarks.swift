import Foundation
import Movies
import Switchboard

/// Encoding parameters to a form and to a query.
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
        try await figures.add("query.parameters") {
            var request = NetworkRequest(.get, url)
            try encoder.encode(Self.parameters, into: &request)
            consume(request.url)
        }
    }

    private static var parameters: Parameters {
        [
            "query": "the fast & the furious", "language": "en-US", "page": 3, "includeAdult": false, "region": "US",
            "year": 2001,
        ]
    }
}
