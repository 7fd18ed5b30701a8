import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// A movie database with three environments on one port, in TheMovieDB's JSON.
///
/// Answers `GET /production/3/movie/now_playing?page=1&api_key=demo-key`, and the same under `/staging` and `/qa`.
/// Pictures have paths such as `/t/p/w342/poster1001.bmp`.
nonisolated enum MovieServer {
    /// The only key that the server accepts.
    static let key = "demo-key"
    static let environments: [NetworkEnvironment] = [.qa, .staging, .production]

    private static let catalogs = Dictionary(
        uniqueKeysWithValues: environments.map { ($0.name, Catalog(environment: $0)) })

    @Sendable static func answer(_ request: RecordedRequest) throws -> MockResponse {
        if let poster = Poster.response(to: request) { return poster }
        do {
            let question = try Question(request)
            guard let catalog = catalogs[question.environment] else { throw Refusal.notFound }
            return try .record(answer(to: question, from: catalog))
        } catch {
            let refusal = error as? Refusal ?? .notFound
            return try .record(refusal.record, status: refusal.rawValue)
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
}
