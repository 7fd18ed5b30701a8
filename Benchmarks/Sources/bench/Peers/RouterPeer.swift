import Foundation
import Movies
import Switchboard

/// The calls of an app: an endpoint through a router, five interceptors and the response handling.
struct RouterPeer: Peer {
    private let router: Router<MovieApi>
    /// The router of POST, or nil for GET.
    private let poster: (router: Router<NewMovies>, endpoint: NewMovies)?
    let executor: (any TaskExecutor)?

    init(_ session: any NetworkSession, _ settings: PeerSettings, runsOnSession: Bool = false) {
        executor = runsOnSession ? (session as? CurlSession)?.taskExecutor : nil
        NetworkEnvironment.default = .loopback
        router = Router(session: session, interceptors: FiveInterceptors.make())
        poster = settings.posted.map {
            (Router(session: session, interceptors: FiveInterceptors.make()), NewMovies(json: $0))
        }
    }

    func bytes() async throws -> Int { try await data().count }
    func data() async throws -> Data {
        if let poster { return try await poster.router.response(for: poster.endpoint).body }
        return try await router.response(for: .newMovies(page: 1)).body
    }
    func page() async throws -> MoviePage {
        if let poster { return try await poster.router.request(poster.endpoint, as: MoviePage.self) }
        return try await router.request(.newMovies(page: 1), as: MoviePage.self)
    }
}

/// A POST to the path of ``MovieApi/newMovies(page:)``.
private struct NewMovies: EndPointType {
    let json: Data

    var baseURL: URL { get throws { try MovieApi.newMovies(page: 1).baseURL } }
    var path: String { MovieApi.newMovies(page: 1).path }
    var httpMethod: HTTPMethod { .post }
    var task: HTTPTask { .requestBody(DataBody(json, contentType: "application/json")) }
}
