import Foundation
import Switchboard

// Call sites that must compile as written, on the main actor.

private enum MovieApi { case popular(page: Int), newMovies(page: Int) }

extension MovieApi: EndPointType {
    var baseURL: URL { get throws { try Self.servers.url(in: .current) } }
    static let servers: EnvironmentURLs = [.production: "https://api.themoviedb.org/3/movie/"]
    var path: String {
        switch self {
        case .popular: "popular"
        case .newMovies: "now_playing"
        }
    }
    var httpMethod: HTTPMethod { .get }
    var task: HTTPTask { .request }
    var headers: HTTPHeaders? { nil }
}

private enum CallSites {
    struct Film: Decodable { let title: String }
    final class FilmList {
        var films: [Film] = []
        let router: Router<MovieApi>
        init(router: Router<MovieApi>) { self.router = router }
        func load() async throws { films = try await router.request(.popular(page: 1)) }
        func loadWithCompletion() {
            router.request(.popular(page: 1), as: [Film].self, on: MainActor.self) {
                self.films = (try? $0.get()) ?? []
            }
        }
    }
    struct Sum: TypedEndPoint {
        typealias Response = Int; let method: String, parameters: [String: String]; var path: String { "rpc" }
    }

    struct Stamp: Interceptor {
        func intercept(_ request: NetworkRequest, next: Next) async throws -> NetworkResponse {
            var request = request
            request.headers["X-Stamp"] = "1"
            return try await next(request)
        }
    }

    struct FindFilms: TypedEndPoint { typealias Response = [Film]; var path: String { "/films" } }

    static func use(_ manager: NetworkManager) async throws {
        let router = Router<MovieApi>()
        let handle = router.request(.newMovies(page: 1)) { data, response, error in }
        handle.cancel()
        let same: [Film] = try await router.request(.newMovies(page: 1))
        let films = try await manager.send(FindFilms())
        manager.send(FindFilms()) { (result: Result<[Film], NetworkError>) in }
        manager.environment = .production
        print(same.count + films.count)
    }
}
