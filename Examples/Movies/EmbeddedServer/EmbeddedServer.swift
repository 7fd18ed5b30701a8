import Foundation
import Switchboard
import SwitchboardMocks

/// A movie database inside this program: three environments behind one loopback socket, in TheMovieDB's shapes.
///
/// `GET /production/3/movie/now_playing?page=1&api_key=demo-key`, and the same under `/staging` and `/qa`; pictures
/// are at `/t/p/w342/poster1001.bmp`.
enum EmbeddedServer {
    /// The only key it takes.
    static let key = "demo-key"

    /// Runs the server for as long as `body` runs, at the URL that `body` gets.
    static func run<Value>(_ body: (URL) async throws -> Value) async throws -> Value {
        let catalogs = catalogs
        return try await MockServer.run { request in
            response(to: request, from: catalogs)
        } body: { server in
            try await body(server.url)
        }
    }

    private static var catalogs: [String: Catalog] {
        Dictionary(uniqueKeysWithValues: MovieBackend.environments.map { ($0.name, Catalog(environment: $0)) })
    }

    private static func response(to request: RecordedRequest, from catalogs: [String: Catalog]) -> MockResponse {
        if let poster = Poster.response(to: request) { return poster }
        do {
            let question = try Question(request)
            guard let catalog = catalogs[question.environment] else { throw Refusal.notFound }
            return try json(answer(to: question, from: catalog))
        } catch {
            let refusal = error as? Refusal ?? .notFound
            return (try? json(refusal.record, status: refusal.rawValue)) ?? .status(500)
        }
    }

    private static func answer(to question: Question, from catalog: Catalog) throws -> any Encodable {
        switch question.path {
        case ["now_playing"]:
            var page = try PageRecord(question.page, of: catalog.newMovies)
            page.dates = .init(maximum: "2026-09-28", minimum: "2026-01-01")
            return page
        case ["popular"]:
            return try PageRecord(question.page, of: catalog.popular)
        default:
            if question.path.count == 1, let movie = catalog.newMovies.first(where: { "\($0.id)" == question.path[0] })
            {
                return movie
            }
            guard question.path.count == 2, let id = Int(question.path[0]) else { throw Refusal.notFound }
            if question.path[1] == "recommendations", let movies = catalog.recommended(after: id) {
                return try PageRecord(question.page, of: movies)
            }
            if question.path[1] == "videos", let videos = catalog.videos(of: id) {
                return VideosRecord(id: id, results: videos)
            }
            throw Refusal.notFound
        }
    }

    private static func json(_ record: any Encodable, status: Int = 200) throws -> MockResponse {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        return .json(try encoder.encode(record), status: status)
    }
}
